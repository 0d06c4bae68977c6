// Constants of every type, at the edges of what they hold.
func @whole() -> (i1, i1, i32, i32, i64, i64) {
  %t = tfrt.constant.i1 true
  %f = tfrt.constant.i1 0
  %a = tfrt.constant.i32 2147483647
  %b = tfrt.constant.i32 -2147483648
  %c = tfrt.constant.i64 9223372036854775807
  %d = tfrt.constant.i64 -9223372036854775808
  tfrt.return %t, %f, %a, %b, %c, %d : i1, i1, i32, i32, i64, i64
}

func @unsigned() -> (ui32, ui64) {
  %a = tfrt.constant.ui32 4294967295
  %b = tfrt.constant.ui64 18446744073709551615
  tfrt.return %a, %b : ui32, ui64
}

func @hexadecimal() -> (i32, i32, i64) {
  %a = tfrt.constant.i32 0x7F
  %b = tfrt.constant.i32 0xFFFFFFFF
  %c = tfrt.constant.i64 0xFF00000000
  tfrt.return %a, %b, %c : i32, i32, i64
}

func @floats() -> (f32, f32, f64, f64, f16, bf16) {
  %a = tfrt.constant.f32 -0.0
  %b = tfrt.constant.f32 3.4028234e38
  %c = tfrt.constant.f64 1.0e-300
  %d = tfrt.constant.f64 0x7FF0000000000000
  %e = tfrt.constant.f16 1.5
  %f = tfrt.constant.bf16 -2.0
  tfrt.return %a, %b, %c, %d, %e, %f : f32, f32, f64, f64, f16, bf16
}

func @complexes() -> (complex<f32>, complex<f64>) {
  %a = tfrt.constant.complex64 1.0, -2.0
  %b = tfrt.constant.complex128 0.0, 0.5
  tfrt.return %a, %b : complex<f32>, complex<f64>
}

func @generic() -> (i1, i32, i64, f32, f64) {
  %a = "tfrt.constant.i1"() {value = true} : () -> i1
  %b = "tfrt.constant.i32"() {value = -1 : i32} : () -> i32
  %c = "tfrt.constant.i64"() {value = 4294967296 : i64} : () -> i64
  %d = "tfrt.constant.f32"() {value = 1.25 : f32} : () -> f32
  %e = "tfrt.constant.f64"() {value = -1.0e10 : f64} : () -> f64
  tfrt.return %a, %b, %c, %d, %e : i1, i32, i64, f32, f64
}

func @signs_stand_apart() -> (i32, f32, i32) {
  %a = tfrt.constant.i32 - 5
  %b = tfrt.constant.f32 -
    // A comment may stand there, too.
    5.5
  %c = "tfrt.constant.i32"() {value = - 7 : i32} : () -> i32
  tfrt.return %a, %b, %c : i32, f32, i32
}
