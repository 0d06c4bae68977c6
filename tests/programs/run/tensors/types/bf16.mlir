// Tensors of bf16: every kernel of this type, in quotes and in short form where there is one.
func @ranks() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %t0 = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %c0 = "tfrt_dht.print_tensor_shape"(%t0, %ch) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t1 = "tfrt_dht.create_uninitialized_tensor.bf16.1"() {shape = [3 : i64]} : () -> !t.tensor
  %c1 = "tfrt_dht.print_tensor_shape"(%t1, %c0) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t2 = tfrt_dht.create_uninitialized_tensor.bf16.2 [2 : i64, 2 : i64]
  %c2 = "tfrt_dht.print_tensor_shape"(%t2, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t3 = "tfrt_dht.create_uninitialized_tensor.bf16.3"() {shape = [1 : i64, 2 : i64, 2 : i64]} : () -> !t.tensor
  %c3 = "tfrt_dht.print_tensor_shape"(%t3, %c2) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t4 = tfrt_dht.create_uninitialized_tensor.bf16.4 [2 : i64, 1 : i64, 1 : i64, 2 : i64]
  %c4 = "tfrt_dht.print_tensor_shape"(%t4, %c3) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t5 = "tfrt_dht.create_uninitialized_tensor.bf16.5"() {shape = [1 : i64, 2 : i64, 1 : i64, 2 : i64, 1 : i64]} : () -> !t.tensor
  %c5 = "tfrt_dht.print_tensor_shape"(%t5, %c4) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c5 : !tfrt.chain
}

func @from_memory() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %size = tfrt.constant.i64 12
  %alignment = tfrt.constant.i64 16
  %buffer = tfrt_dht.allocate_buffer %size, %alignment
  %shape = ts.build_shape [2 : i64, 3 : i64]
  %t, %ch1 = "tfrt_dht.make_tensor.bf16"(%buffer, %shape, %ch0) : (!ht.host_buffer, !ts.shape, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %ch3 = "tfrt_dht.print_tensor_shape"(%t, %ch1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}
