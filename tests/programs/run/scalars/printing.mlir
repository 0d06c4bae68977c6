// Every kernel that prints a scalar; a chain keeps them in order.
func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %i1 = tfrt.constant.i1 true
  %ch1 = tfrt.print.i1 %i1, %ch0
  %i32 = tfrt.constant.i32 -42
  %ch2 = tfrt.print.i32 %i32, %ch1
  %i64 = tfrt.constant.i64 -9223372036854775808
  %ch3 = tfrt.print.i64 %i64, %ch2
  %f32 = tfrt.constant.f32 3.14159274
  %ch4 = tfrt.print.f32 %f32, %ch3
  %f64 = tfrt.constant.f64 -1.0e21
  %ch5 = tfrt.print.f64 %f64, %ch4
  %f16 = tfrt.constant.f16 1.0
  %ch6 = "tfrt.print.f16"(%f16, %ch5) : (f16, !tfrt.chain) -> !tfrt.chain
  %c64 = tfrt.constant.complex64 1.0, -2.5
  %ch7 = "tfrt.print.complex64"(%c64, %ch6) : (complex<f32>, !tfrt.chain) -> !tfrt.chain
  %c128 = tfrt.constant.complex128 -0.125, 4.0
  %ch8 = "tfrt.print.complex128"(%c128, %ch7) : (complex<f64>, !tfrt.chain) -> !tfrt.chain
  %i8 = tfrt.constant.i8 -128
  %ch9 = tfrt.print.i8 %i8, %ch8
  %i16 = tfrt.constant.i16 32767
  %ch10 = tfrt.print.i16 %i16, %ch9
  tfrt.return %ch10 : !tfrt.chain
}

func @not_finite() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %inf = tfrt.constant.f32 0x7F800000
  %ch1 = tfrt.print.f32 %inf, %ch0
  %minus = tfrt.constant.f64 0xFFF0000000000000
  %ch2 = tfrt.print.f64 %minus, %ch1
  %nan = tfrt.constant.f32 0x7FC00000
  %ch3 = tfrt.print.f32 %nan, %ch2
  %tiny = tfrt.constant.f64 4.9e-324
  %ch4 = tfrt.print.f64 %tiny, %ch3
  %half = tfrt.constant.f32 0.0000005
  %ch5 = tfrt.print.f32 %half, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

func @returned_not_finite() -> (f32, f64, f32, f64) {
  %a = tfrt.constant.f32 0x7F800000
  %b = tfrt.constant.f64 0xFFF0000000000000
  %c = tfrt.constant.f32 0x7FC00000
  %d = tfrt.constant.f64 123456.789
  tfrt.return %a, %b, %c, %d : f32, f64, f32, f64
}
