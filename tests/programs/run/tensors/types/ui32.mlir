// Tensors of ui32: every kernel of this type, in quotes and in short form where there is one.
func @ranks() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %t0 = tfrt_dht.create_uninitialized_tensor.ui32.0 []
  %c0 = "tfrt_dht.print_tensor_shape"(%t0, %ch) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t1 = "tfrt_dht.create_uninitialized_tensor.ui32.1"() {shape = [3 : i64]} : () -> !t.tensor
  %c1 = "tfrt_dht.print_tensor_shape"(%t1, %c0) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t2 = tfrt_dht.create_uninitialized_tensor.ui32.2 [2 : i64, 2 : i64]
  %c2 = "tfrt_dht.print_tensor_shape"(%t2, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t3 = "tfrt_dht.create_uninitialized_tensor.ui32.3"() {shape = [1 : i64, 2 : i64, 2 : i64]} : () -> !t.tensor
  %c3 = "tfrt_dht.print_tensor_shape"(%t3, %c2) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t4 = tfrt_dht.create_uninitialized_tensor.ui32.4 [2 : i64, 1 : i64, 1 : i64, 2 : i64]
  %c4 = "tfrt_dht.print_tensor_shape"(%t4, %c3) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %t5 = "tfrt_dht.create_uninitialized_tensor.ui32.5"() {shape = [1 : i64, 2 : i64, 1 : i64, 2 : i64, 1 : i64]} : () -> !t.tensor
  %c5 = "tfrt_dht.print_tensor_shape"(%t5, %c4) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c5 : !tfrt.chain
}

func @values() -> (i1, i1, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.ui32.1 [3 : i64]
  %b = "tfrt_dht.create_uninitialized_tensor.ui32.1"() {shape = [3 : i64]} : () -> !t.tensor
  %ch1 = tfrt_dht.set_tensor_with_constant_values.ui32 %a, %ch0 [4294967295 : ui32, 0 : ui32, 1 : ui32]
  %ch2 = tfrt_dht.print_tensor %a, %ch1
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui32 %b, %ch2 4294967295 : ui32
  %ch4 = tfrt_dht.print_tensor %b, %ch3
  %e, %ch5 = tfrt_dht.tensor_equal.ui32 %a, %b, %ch4
  %f, %ch6 = "tfrt_dht.tensor_equal.ui32"(%a, %a, %ch5) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  tfrt.return %e, %f, %ch6 : i1, i1, !tfrt.chain
}

func @close() -> (i1, i1, i1, i1, i1) {
  %ch0 = tfrt.new.chain
  %a = "tfrt_dht.create_uninitialized_tensor.ui32.1"() {shape = [3 : i64]} : () -> !t.tensor
  %ch1 = "tfrt_dht.set_tensor_with_constant_values.ui32"(%a, %ch0) {values = [4294967295 : ui32, 0 : ui32, 1 : ui32]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %e0, %c0 = "tfrt_dht.tensor_allclose.ui32"(%a, %a, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %e1, %c1 = "tfrt_dht.tensor_allclose.3ulp.ui32"(%a, %a, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %e2, %c2 = "tfrt_dht.tensor_allclose.1000ulp.ui32"(%a, %a, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %e3, %c3 = "tfrt_dht.tensor_allclose.2000ulp.ui32"(%a, %a, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %e4, %c4 = "tfrt_dht.tensor_allclose.100000ulp.ui32"(%a, %a, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  tfrt.return %e0, %e1, %e2, %e3, %e4 : i1, i1, i1, i1, i1
}

func @from_operands() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %x0 = tfrt.constant.ui32 4294967295
  %x1 = tfrt.constant.ui32 1
  %t = "tfrt_dht.create_uninitialized_tensor.ui32.1"() {shape = [2 : i64]} : () -> !t.tensor
  %ch1 = "tfrt_dht.set_tensor_with_values.ui32"(%t, %ch0, %x0, %x1) : (!t.tensor, !tfrt.chain, ui32, ui32) -> !tfrt.chain
  %ch2 = tfrt_dht.print_tensor %t, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

func @from_memory() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %size = tfrt.constant.i64 24
  %alignment = tfrt.constant.i64 16
  %buffer = tfrt_dht.allocate_buffer %size, %alignment
  %shape = ts.build_shape [2 : i64, 3 : i64]
  %t, %ch1 = tfrt_dht.make_tensor.ui32 %buffer, %shape, %ch0
  %ch2 = "tfrt_dht.fill_tensor_with_constant.ui32"(%t, %ch1) {value = 1 : ui32} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch3 = tfrt_dht.print_tensor %t, %ch2
  tfrt.return %ch3 : !tfrt.chain
}

func @sparse() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %t0 = "tfrt_dht.create_uninitialized_tensor.ui32.0"() {shape = []} : () -> !t.tensor
  %a0 = "tfrt_dht.set_tensor_with_constant_values.ui32"(%t0, %ch0) {values = [4294967295 : ui32]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %s0, %b0 = coo.convert_dht_to_coo.ui32.0 %t0, %a0
  %c0 = tfrt_dht.print_tensor %s0, %b0
  %u0, %d0 = "coo.convert_coo_to_dht.ui32.0"(%s0, %c0) : (!t.tensor, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %v0 = tfrt_dht.print_tensor %u0, %d0
  %e0, %f0 = "coo.tensor_equal.ui32.0"(%s0, %s0, %v0) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %g0 = tfrt.print.i1 %e0, %f0
  %t1 = "tfrt_dht.create_uninitialized_tensor.ui32.1"() {shape = [3 : i64]} : () -> !t.tensor
  %a1 = "tfrt_dht.set_tensor_with_constant_values.ui32"(%t1, %g0) {values = [0 : ui32, 0 : ui32, 4294967295 : ui32]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %s1, %b1 = coo.convert_dht_to_coo.ui32.1 %t1, %a1
  %c1 = tfrt_dht.print_tensor %s1, %b1
  %u1, %d1 = "coo.convert_coo_to_dht.ui32.1"(%s1, %c1) : (!t.tensor, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %v1 = tfrt_dht.print_tensor %u1, %d1
  %e1, %f1 = "coo.tensor_equal.ui32.1"(%s1, %s1, %v1) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %g1 = tfrt.print.i1 %e1, %f1
  %t2 = "tfrt_dht.create_uninitialized_tensor.ui32.2"() {shape = [2 : i64, 2 : i64]} : () -> !t.tensor
  %a2 = "tfrt_dht.set_tensor_with_constant_values.ui32"(%t2, %g1) {values = [0 : ui32, 0 : ui32, 0 : ui32, 4294967295 : ui32]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %s2, %b2 = coo.convert_dht_to_coo.ui32.2 %t2, %a2
  %c2 = tfrt_dht.print_tensor %s2, %b2
  %u2, %d2 = "coo.convert_coo_to_dht.ui32.2"(%s2, %c2) : (!t.tensor, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %v2 = tfrt_dht.print_tensor %u2, %d2
  %e2, %f2 = "coo.tensor_equal.ui32.2"(%s2, %s2, %v2) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %g2 = tfrt.print.i1 %e2, %f2
  %t3 = "tfrt_dht.create_uninitialized_tensor.ui32.3"() {shape = [1 : i64, 2 : i64, 2 : i64]} : () -> !t.tensor
  %a3 = "tfrt_dht.set_tensor_with_constant_values.ui32"(%t3, %g2) {values = [0 : ui32, 0 : ui32, 0 : ui32, 4294967295 : ui32]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %s3, %b3 = coo.convert_dht_to_coo.ui32.3 %t3, %a3
  %c3 = tfrt_dht.print_tensor %s3, %b3
  %u3, %d3 = "coo.convert_coo_to_dht.ui32.3"(%s3, %c3) : (!t.tensor, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %v3 = tfrt_dht.print_tensor %u3, %d3
  %e3, %f3 = "coo.tensor_equal.ui32.3"(%s3, %s3, %v3) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %g3 = tfrt.print.i1 %e3, %f3
  %t4 = "tfrt_dht.create_uninitialized_tensor.ui32.4"() {shape = [2 : i64, 1 : i64, 1 : i64, 2 : i64]} : () -> !t.tensor
  %a4 = "tfrt_dht.set_tensor_with_constant_values.ui32"(%t4, %g3) {values = [0 : ui32, 0 : ui32, 0 : ui32, 4294967295 : ui32]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %s4, %b4 = coo.convert_dht_to_coo.ui32.4 %t4, %a4
  %c4 = tfrt_dht.print_tensor %s4, %b4
  %u4, %d4 = "coo.convert_coo_to_dht.ui32.4"(%s4, %c4) : (!t.tensor, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %v4 = tfrt_dht.print_tensor %u4, %d4
  %e4, %f4 = "coo.tensor_equal.ui32.4"(%s4, %s4, %v4) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %g4 = tfrt.print.i1 %e4, %f4
  %t5 = "tfrt_dht.create_uninitialized_tensor.ui32.5"() {shape = [1 : i64, 2 : i64, 1 : i64, 2 : i64, 1 : i64]} : () -> !t.tensor
  %a5 = "tfrt_dht.set_tensor_with_constant_values.ui32"(%t5, %g4) {values = [0 : ui32, 0 : ui32, 0 : ui32, 4294967295 : ui32]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %s5, %b5 = coo.convert_dht_to_coo.ui32.5 %t5, %a5
  %c5 = tfrt_dht.print_tensor %s5, %b5
  %u5, %d5 = "coo.convert_coo_to_dht.ui32.5"(%s5, %c5) : (!t.tensor, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %v5 = tfrt_dht.print_tensor %u5, %d5
  %e5, %f5 = "coo.tensor_equal.ui32.5"(%s5, %s5, %v5) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %g5 = tfrt.print.i1 %e5, %f5
  tfrt.return %g5 : !tfrt.chain
}
