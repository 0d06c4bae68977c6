// Matrix products, and products that are none.
func @plain() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %half = tfrt.constant.f32 0.5
  %zero = tfrt.constant.f32 0.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 1 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %b, %ch1 [1.0 : f32, -1.0 : f32, 2.0 : f32]
  %ch3 = "tfrt_test.matmul.f32.2"(%one, %a, %b, %zero, %c, %ch2) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %c, %ch3
  %ch5 = "tfrt_test.matmul.f32.2"(%half, %a, %b, %one, %c, %ch4) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch6 = tfrt_dht.print_tensor %c, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

func @of_whole_numbers() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %two = tfrt.constant.i32 2
  %minus = tfrt.constant.i32 -1
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch0 [1 : i32, 65536 : i32, 65536 : i32, 1 : i32]
  %ch2 = tfrt_dht.fill_tensor_with_constant.i32 %c, %ch1 100 : i32
  %ch3 = "tfrt_test.matmul.i32.2"(%two, %a, %a, %minus, %c, %ch2) : (i32, !t.tensor, !t.tensor, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %c, %ch3
  tfrt.return %ch4 : !tfrt.chain
}

func @shapes_that_do_not_fit() -> (!tfrt.chain, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  // expected-error @+1 {{runtime error: MatMul argument tensors inner dimension mismatch: [2, 3] vs. [2, 2]}}
  %0 = "tfrt_test.matmul.f32.2"(%one, %a, %b, %one, %a, %ch0) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{runtime error: MatMul result shape [2, 2] does not match product shape of arguments: [2, 2] * [2, 3]}}
  %1 = "tfrt_test.matmul.f32.2"(%one, %b, %a, %one, %b, %ch0) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %0, %1 : !tfrt.chain, !tfrt.chain
}

func @no_elements() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %two = tfrt.constant.f32 2.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 0 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [0 : i64, 2 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %c, %ch0 3.0 : f32
  %ch2 = "tfrt_test.matmul.f32.2"(%one, %a, %b, %two, %c, %ch1) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch3 = tfrt_dht.print_tensor %c, %ch2
  tfrt.return %ch3 : !tfrt.chain
}
