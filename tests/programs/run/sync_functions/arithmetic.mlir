// Every kernel of sync functions.
func @constants() -> (i32, i64, f16, f32, f64) attributes {tfrt.sync} {
  %a = "tfrt.constant_s.i32"() {value = -1 : i32} : () -> i32
  %b = tfrt.constant_s.i64 2
  %c = tfrt.constant_s.f16 0.5
  %d = tfrt.constant_s.f32 -0.25
  %e = tfrt.constant_s.f64 1.0e300
  tfrt.return %a, %b, %c, %d, %e : i32, i64, f16, f32, f64
}

func @wrapping() -> (i32, i32, i64, i64) attributes {tfrt.sync} {
  %a = "tfrt.constant_s.i32"() {value = 2147483647 : i32} : () -> i32
  %b = "tfrt.constant_s.i32"() {value = 3 : i32} : () -> i32
  %0 = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  %1 = tfrt.mul_s.i32 %a, %b
  %c = tfrt.constant_s.i64 9223372036854775807
  %d = tfrt.constant_s.i64 3
  %2 = "tfrt.add_s.i64"(%c, %d) : (i64, i64) -> i64
  %3 = "tfrt.mul_s.i64"(%c, %d) : (i64, i64) -> i64
  tfrt.return %0, %1, %2, %3 : i32, i32, i64, i64
}

func @test_kernels() -> (i32, i32, i32, !tfrt.string, i32, !tfrt.string) attributes {tfrt.sync} {
  %a = "tfrt.constant_s.i32"() {value = 5 : i32} : () -> i32
  %0 = "tfrt_test.sync_sum"(%a, %a) : (i32, i32) -> i32
  %1 = "tfrt_test.sync_sum2"(%a, %0, %a) : (i32, i32, i32) -> i32
  %2 = "tfrt_test.sync_sum_attributes"() {x = 1 : i32, y = 2 : i32} : () -> i32
  %s = "tfrt_test.get_string_sync"() {value = "sync"} : () -> !tfrt.string
  %none = "tfrt_test.sync_sum"() : () -> i32
  %copy = "tfrt.copy_s"(%s) : (!tfrt.string) -> !tfrt.string
  tfrt.return %0, %1, %2, %s, %none, %copy : i32, i32, i32, !tfrt.string, i32, !tfrt.string
}

func @dense() -> !t.tensor attributes {tfrt.sync} {
  %t = "tfrt_test.sync.const_dense_attr"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> !t.tensor
  tfrt.return %t : !t.tensor
}

// Numbers may stand without their names where operations are printed with quotes, too.
func @short_forms() -> (i32, f32) attributes {tfrt.sync} {
  %a = tfrt.constant_s.i32 20
  %b = tfrt.add_s.i32 %a, %a
  %c = tfrt.constant_s.f32 -2.5 : f32
  tfrt.return %b, %c : i32, f32
}

func.func @other_constants() -> (i1, i64, ui32, ui64, complex<f32>, complex<f64>) attributes {tfrt.sync} {
  %a = tfrt.constant_s.i1 true
  %b = tfrt.constant_s.i64 -5000000000
  %c = tfrt.constant_s.ui32 4000000000
  %d = tfrt.constant_s.ui64 18000000000000000000
  %e = tfrt.constant_s.complex64 1.0, -4.0
  %f = tfrt.constant_s.complex128 0.0, 0.0
  tfrt.return %a, %b, %c, %d, %e, %f : i1, i64, ui32, ui64, complex<f32>, complex<f64>
}
