// Kernels that make fewer elements, or more, or others.
func @fewer() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0 [1.0 : f32, 3.0 : f32, 2.0 : f32, 7.0 : f32, -1.0 : f32, 7.0 : f32]
  %b = "tfrt_test.argmax.f32.2"(%a, %ch1) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %ch2 = tfrt_dht.print_tensor %b, %ch1
  %c = "tfrt_test.argmax.i32.1"(%b, %ch2) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %ch3 = tfrt_dht.print_tensor %c, %ch2
  %d = "tfrt_test.reduce_mean.f32.2"(%a, %ch3) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %ch4 = tfrt_dht.print_tensor %d, %ch3
  %e = tfrt_dht.create_uninitialized_tensor.f32.1 [0 : i64]
  %f = "tfrt_test.reduce_mean.f32.1"(%e, %ch4) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %ch5 = tfrt_dht.print_tensor %f, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

func @of_every_rank() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %f1 = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %f1, %ch0 1.5 : f32
  %f3 = tfrt_dht.create_uninitialized_tensor.f32.3 [1 : i64, 2 : i64, 2 : i64]
  %c2 = tfrt_dht.fill_tensor_with_constant.f32 %f3, %c1 -2.0 : f32
  %f4 = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  %c3 = tfrt_dht.fill_tensor_with_constant.f32 %f4, %c2 0.25 : f32
  %m3 = "tfrt_test.reduce_mean.f32.3"(%f3, %c3) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c4 = tfrt_dht.print_tensor %m3, %c3
  %m4 = "tfrt_test.reduce_mean.f32.4"(%f4, %c4) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c5 = tfrt_dht.print_tensor %m4, %c4
  %a1 = "tfrt_test.argmax.f32.1"(%f1, %c5) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c6 = tfrt_dht.print_tensor %a1, %c5
  %a3 = "tfrt_test.argmax.f32.3"(%f3, %c6) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c7 = tfrt_dht.print_tensor %a3, %c6
  %a4 = "tfrt_test.argmax.f32.4"(%f4, %c7) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c8 = tfrt_dht.print_tensor %a4, %c7
  %i2 = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  %c9 = tfrt_dht.set_tensor_with_constant_values.i32 %i2, %c8 [4 : i32, 9 : i32]
  %b2 = "tfrt_test.argmax.i32.2"(%i2, %c9) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c10 = tfrt_dht.print_tensor %b2, %c9
  %i3 = tfrt_dht.create_uninitialized_tensor.i32.3 [1 : i64, 1 : i64, 1 : i64]
  %c11 = tfrt_dht.fill_tensor_with_constant.i32 %i3, %c10 1 : i32
  %b3 = "tfrt_test.argmax.i32.3"(%i3, %c11) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c12 = tfrt_dht.print_tensor %b3, %c11
  %i4 = tfrt_dht.create_uninitialized_tensor.i32.4 [1 : i64, 1 : i64, 1 : i64, 2 : i64]
  %c13 = tfrt_dht.fill_tensor_with_constant.i32 %i4, %c12 1 : i32
  %b4 = "tfrt_test.argmax.i32.4"(%i4, %c13) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c14 = tfrt_dht.print_tensor %b4, %c13
  tfrt.return %c14 : !tfrt.chain
}

func @softmax() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0 [0.0 : f32, 0.0 : f32, 1000.0 : f32, 0.0 : f32]
  %ch2 = "tfrt_test.softmax.f32"(%a, %b, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch3 = tfrt_dht.print_tensor %b, %ch2
  %ch4 = "tfrt_test.softmax_inplace.f32"(%a, %ch3) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_dht.print_tensor %a, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

func @more() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0 [1.0 : f32, 2.0 : f32]
  %s2 = ts.build_shape [2 : i64, 2 : i64]
  %b = "tfrt_test.broadcast.f32.2"(%a, %s2, %ch1) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %ch2 = tfrt_dht.print_tensor %b, %ch1
  %s3 = ts.build_shape [2 : i64, 1 : i64, 2 : i64]
  %c = "tfrt_test.broadcast.f32.3"(%a, %s3, %ch2) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %ch3 = tfrt_dht.print_tensor %c, %ch2
  %d = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch4 = tfrt_dht.fill_tensor_with_constant.i32 %d, %ch3 6 : i32
  %e = "tfrt_test.broadcast.i32.2"(%d, %s2, %ch4) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %ch5 = tfrt_dht.print_tensor %e, %ch4
  %f = "tfrt_test.broadcast.i32.3"(%d, %s3, %ch5) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %ch6 = tfrt_dht.print_tensor %f, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

func @a_part() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.3 [1 : i64, 3 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0 [0.0 : f32, 1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32]
  %at = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i64 %at, %ch1 [0 : i64, 1 : i64, 0 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.3 [1 : i64, 2 : i64, 1 : i64]
  %ch3 = "tfrt_test.slice_inplace.f32.3"(%a, %at, %ch2, %b) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %b, %ch3
  %c = tfrt_dht.create_uninitialized_tensor.i32.3 [1 : i64, 3 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.i32 %c, %ch4 3 : i32
  %d = tfrt_dht.create_uninitialized_tensor.i32.3 [1 : i64, 3 : i64, 1 : i64]
  %ch6 = "tfrt_test.slice_inplace.i32.3"(%c, %at, %d, %ch5) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{a slice of shape [1, 3, 1] at [0, 1, 0] is not within [1, 3, 2]}}
  tfrt.return %ch6 : !tfrt.chain
}

func @a_part_for_two() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[[1, 2]]]> : tensor<1x1x2xi32>} : () -> !t.tensor
  %at = "tfrt_test.const_dense_attr"() {value = dense<[0, 0, 1]> : tensor<3xi64>} : () -> !t.tensor
  %ch1 = "tfrt_test.slice_inplace.i32.3"(%a, %at, %ch0, %a, %a) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor, !t.tensor) -> !tfrt.chain // expected-error {{expected one tensor to write to, found 2}}
  tfrt.return %ch1 : !tfrt.chain
}
