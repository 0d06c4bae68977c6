// Tensors as rows, and as one row.
func.func @rows() -> !tfrt.chain {
  %c = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.3 [2 : i64, 3 : i64, 1 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %c [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32]
  %b = "tfrt_test.flatten.f32"(%a, %c1) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c3 = tfrt_dht.print_tensor %b, %c1
  %into = tfrt_dht.create_uninitialized_tensor.f32.1 [6 : i64]
  %c4 = "tfrt_test.flatten.f32"(%a, %into, %c3) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c5 = tfrt_dht.print_tensor %into, %c4
  tfrt.return %c5 : !tfrt.chain
}
