// Convolution, pooling, normalisation.
func @convolution() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %image = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 3 : i64, 3 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %image, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %filter = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %filter, %ch1 [1.0 : f32, 0.0 : f32, 0.0 : f32, -1.0 : f32]
  %valid = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch3 = "tfrt_test.conv2d.f32"(%image, %filter, %valid, %ch2) {padding = "valid", strides = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %valid, %ch3
  %same = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch5 = "tfrt_test.conv2d.f32"(%image, %filter, %same, %ch4) {padding = "same", strides = [2 : i32, 2 : i32]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch6 = tfrt_dht.print_tensor %same, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

func @pooling() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %image = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 3 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %image, %ch0 [-1.0 : f32, -2.0 : f32, -3.0 : f32, -4.0 : f32, -5.0 : f32, -6.0 : f32]
  %valid = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 1 : i64, 1 : i64]
  %ch2 = "tfrt_test.max_pooling_2d.f32"(%image, %valid, %ch1) {padding = "valid", pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch3 = tfrt_dht.print_tensor %valid, %ch2
  %same = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  %ch4 = "tfrt_test.max_pooling_2d.f32"(%image, %same, %ch3) {padding = "same", pool_size = [2 : i32, 2 : i32], strides = [2 : i32, 2 : i32]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_dht.print_tensor %same, %ch4
  %mean = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 1 : i64]
  %ch6 = "tfrt_test.global_average.f32"(%image, %mean, %ch5) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch7 = tfrt_dht.print_tensor %mean, %ch6
  tfrt.return %ch7 : !tfrt.chain
}

func @normalisation() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %image = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 2 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %image, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %scale = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %scale, %ch1 [1.0 : f32, 2.0 : f32]
  %offset = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %offset, %ch2 [0.0 : f32, 0.5 : f32]
  %mean = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch4 = tfrt_dht.set_tensor_with_constant_values.f32 %mean, %ch3 [2.0 : f32, 3.0 : f32]
  %variance = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %variance, %ch4 [0.75 : f32, 3.75 : f32]
  %ch6 = "tfrt_test.batch_norm_inplace.f32"(%image, %scale, %offset, %mean, %variance, %ch5) {epsilon = 0.25 : f32} : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch7 = tfrt_dht.print_tensor %image, %ch6
  tfrt.return %ch7 : !tfrt.chain
}

func @windows_that_make_no_sense() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %image = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %0 = "tfrt_test.max_pooling_2d.f32"(%image, %image, %ch0) {padding = "full", pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{padding is 'valid' or 'same', not 'full'}}
  %1 = "tfrt_test.max_pooling_2d.f32"(%image, %image, %ch0) {padding = "same", pool_size = [0 : i64, 2 : i64], strides = [2 : i64, 2 : i64]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{makes no sense}}
  %2 = "tfrt_test.max_pooling_2d.f32"(%image, %image, %ch0) {padding = "same", pool_size = [2 : i64], strides = [2 : i64, 2 : i64]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{expected two numbers each}}
  %3 = "tfrt_test.conv2d.f32"(%image, %image, %image, %ch0) {padding = "same", strides = [9223372036854775807 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{channel mismatch: [1, 2, 2, 1] vs. [1, 2, 2, 1]}}
  tfrt.return %0, %1, %2, %3 : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain
}
