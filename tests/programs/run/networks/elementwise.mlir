// Kernels that treat every element alike: into a new tensor, into a given one, in place.
func @f32() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0 [-1.0 : f32, 0.5 : f32, 0x7FC00000 : f32]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %b, %ch1 [-1.0 : f32, 2.5 : f32, 1.0 : f32]
  %ch3 = "tfrt_test.relu.f32"(%a, %c, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %c, %ch3
  %ch5 = "tfrt_test.add.f32"(%a, %b, %c, %ch4) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch6 = tfrt_dht.print_tensor %c, %ch5
  %ch7 = "tfrt_test.equal.f32"(%a, %b, %c, %ch6) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch8 = tfrt_dht.print_tensor %c, %ch7
  %ch9 = "tfrt_test.add_inplace.f32"(%b, %c, %ch8) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch10 = tfrt_dht.print_tensor %c, %ch9
  %ch11 = "tfrt_test.relu_inplace.f32"(%c, %ch10) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch12 = tfrt_dht.print_tensor %c, %ch11
  %ch13 = "tfrt_test.equal_inplace.f32"(%b, %c, %ch12) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch14 = tfrt_dht.print_tensor %c, %ch13
  tfrt.return %ch14 : !tfrt.chain
}

func @i32() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch0 [-1 : i32, 2147483647 : i32, 3 : i32]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i32 %b, %ch1 [-1 : i32, 1 : i32, 4 : i32]
  %c = "tfrt_test.relu.i32"(%a, %ch2) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %ch3 = tfrt_dht.print_tensor %c, %ch2
  %d = "tfrt_test.add.i32"(%a, %b, %ch3) : (!t.tensor, !t.tensor, !tfrt.chain) -> !t.tensor
  %ch4 = tfrt_dht.print_tensor %d, %ch3
  %e = "tfrt_test.equal.i32"(%a, %b, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> !t.tensor
  %ch5 = tfrt_dht.print_tensor %e, %ch4
  %ch6 = "tfrt_test.add_inplace.i32"(%a, %b, %ch5) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch7 = tfrt_dht.print_tensor %b, %ch6
  %ch8 = "tfrt_test.equal_inplace.i32"(%a, %b, %ch7) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch9 = tfrt_dht.print_tensor %b, %ch8
  %ch10 = "tfrt_test.relu_inplace.i32"(%a, %ch9) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch11 = tfrt_dht.print_tensor %a, %ch10
  %f = "tfrt_test.cast.i32_to_f32"(%a, %ch11) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %ch12 = tfrt_dht.print_tensor %f, %ch11
  %g = "tfrt_test.cast.f32_to_i32"(%f, %ch12) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %ch13 = tfrt_dht.print_tensor %g, %ch12
  tfrt.return %ch13 : !tfrt.chain
}

func @shapes_that_differ() -> (!tfrt.chain, !tfrt.chain, !t.tensor) {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 1 : i64]
  %0 = "tfrt_test.add_inplace.f32"(%a, %b, %ch0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{argument shapes differ: [3] vs. [3, 1]}}
  %1 = "tfrt_test.relu.f32"(%a, %b, %ch0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{argument and result shapes differ: [3] vs. [3, 1]}}
  %2 = "tfrt_test.add.i32"(%a, %a, %ch0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !t.tensor // expected-error {{expected a tensor of i32, not of f32}}
  tfrt.return %0, %1, %2 : !tfrt.chain, !tfrt.chain, !t.tensor
}
