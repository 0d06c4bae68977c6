// What tensors look like, and what can be asked about them.
func @long() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [4 : i64, 4 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch0 -0.001 : f32
  %ch2 = tfrt_dht.print_tensor %t, %ch1
  %u = tfrt_dht.create_uninitialized_tensor.f32.1 [17 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %u, %ch2 1.0e10 : f32
  %ch4 = tfrt_dht.print_tensor %u, %ch3
  %shape = tfrt_dht.get_tensor_shape %u
  %ch5 = ts.print_shape %shape, %ch4
  %v = "tfrt_dht.no_op_ht"(%u) : (!t.tensor) -> !t.tensor
  %s = "tfrt_dht.get_tensor_shape"(%v) : (!t.tensor) -> !ts.shape
  %ch6 = "ts.print_shape"(%s, %ch5) : (!ts.shape, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch6 : !tfrt.chain
}

func @not_finite() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %ch0 [0x7F800000 : f32, 0xFF800000 : f32, 0x7FC00000 : f32, -0.0 : f32]
  %ch2 = tfrt_dht.print_tensor %t, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

func @strings() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %t = "tfrt_sht.create_tensor"() {shape = [2 : i64, 1 : i64], values = ["one", "two\22"]} : () -> !t.tensor
  %ch1 = tfrt_dht.print_tensor %t, %ch0
  %s = "tfrt_sht.create_tensor"() {shape = [], values = ["alone"]} : () -> !t.tensor
  %ch2 = tfrt_dht.print_tensor %s, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

func @kinds() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch1 = "tfrt_test.print_tensor_type"(%t, %ch0) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %s = "tfrt_sht.create_tensor"() {shape = [], values = ["alone"]} : () -> !t.tensor
  %ch2 = "tfrt_test.print_tensor_type"(%s, %ch1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %k = "tfrt_test.get_static_tensor_type"() {tensor_type = "CooHost"} : () -> !tfrt.tensor_type
  %ch3 = "tfrt_test.print_tensor_type"(%k, %ch2) : (!tfrt.tensor_type, !tfrt.chain) -> !tfrt.chain
  %l = "tfrt.get_static_tensor_type"() {tensor_type = "DenseHost"} : () -> !tfrt.tensor_type
  %ch4 = "tfrt_test.print_tensor_type"(%l, %ch3) : (!tfrt.tensor_type, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

func @unknown_kind() -> !tfrt.tensor_type {
  // expected-error @+1 {{cannot find tensor type Gpu}}
  %k = "tfrt_test.get_static_tensor_type"() {tensor_type = "Gpu"} : () -> !tfrt.tensor_type
  tfrt.return %k : !tfrt.tensor_type
}

func @close_but_not_equal() -> (i1, i1, i1, i1, i1, i1) {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %ch0 0x3F800000 : f32
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %b, %ch1 0x3F800003 : f32
  %0, %c0 = tfrt_dht.tensor_equal.f32 %a, %b, %ch2
  %1, %c1 = "tfrt_dht.tensor_allclose.f32"(%a, %b, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %2, %c2 = "tfrt_dht.tensor_allclose.3ulp.f32"(%a, %b, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %ch3 = tfrt.merge.chains %c0, %c1, %c2 : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %ch4 = tfrt_dht.fill_tensor_with_constant.f32 %b, %ch3 0x3F800400 : f32
  %3, %c3 = "tfrt_dht.tensor_allclose.1000ulp.f32"(%a, %b, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %4, %c4 = "tfrt_dht.tensor_allclose.2000ulp.f32"(%a, %b, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %5, %c5 = "tfrt_dht.tensor_allclose.100000ulp.f32"(%a, %b, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  tfrt.return %0, %1, %2, %3, %4, %5 : i1, i1, i1, i1, i1, i1
}

// Kernels that are printed in quotes are read in the short form of their relatives, too.
func @short_forms() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f64.2 [2, 2]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f64 %t, %ch0 [1.0 : f64, 2.0, -0.0, 1.0e300]
  %ch2 = tfrt_dht.print_tensor %t, %ch1
  %u = tfrt_dht.create_uninitialized_tensor.i8.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i8 %u, %ch2 -7 : i8
  %ch4 = tfrt_dht.print_tensor %u, %ch3
  tfrt.return %ch4 : !tfrt.chain
}
