// The memory of tensors: two tensors in one buffer see what is written.
func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %t, %ch0 [1 : i32, 2 : i32, 3 : i32, 4 : i32]
  %b, %ch2 = tfrt_dht.get_buffer %t, %ch1
  %offset = tfrt.constant.i64 8
  %s = tfrt_dht.get_buffer_slice %b, %offset, %offset
  %shape = ts.build_shape [2 : i64, 1 : i64]
  %u, %ch3 = tfrt_dht.make_tensor.i32 %s, %shape, %ch2
  %ch4 = tfrt_dht.print_tensor %u, %ch3
  %ch5 = tfrt_dht.fill_tensor_with_constant.i32 %u, %ch4 -9 : i32
  %ch6 = tfrt_dht.print_tensor %t, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

func @in_quotes() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %size = tfrt.constant.i64 0
  %alignment = tfrt.constant.i64 64
  %b = "tfrt_dht.allocate_buffer"(%size, %alignment) : (i64, i64) -> !ht.host_buffer
  %s = "tfrt_dht.get_buffer_slice"(%b, %size, %size) : (!ht.host_buffer, i64, i64) -> !ht.host_buffer
  %shape = ts.build_shape [3 : i64, 0 : i64]
  %u, %ch1 = "tfrt_dht.make_tensor.f64"(%s, %shape, %ch0) : (!ht.host_buffer, !ts.shape, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %ch2 = "tfrt_dht.print_tensor"(%u, %ch1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c, %ch3 = "tfrt_dht.get_buffer"(%u, %ch2) : (!t.tensor, !tfrt.chain) -> (!ht.host_buffer, !tfrt.chain)
  %ch4 = "tfrt_dht.print_buffer"(%c, %ch3) : (!ht.host_buffer, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_dht.print_buffer %b, %ch4
  tfrt.return %ch5 : !tfrt.chain
}
