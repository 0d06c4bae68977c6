// Divisions without a result, and the one whose result does not fit.
func @by_zero() -> (i32, i32, i64, i64, f32, f64) {
  %a = tfrt.constant.i32 -5
  %z = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %a, %z // expected-error {{runtime error: Divide by zero}}
  %b = tfrt.constant.i64 5
  %y = tfrt.constant.i64 0
  %s, %t = tfrt.div.i64 %b, %y // expected-error {{runtime error: Divide by zero}}
  %c = tfrt.constant.f32 5.0
  %x = tfrt.constant.f32 -0.0
  %u = "tfrt.div.f32"(%c, %x) : (f32, f32) -> f32 // expected-error {{runtime error: Divide by zero}}
  %d = tfrt.constant.f64 0.0
  %v = "tfrt.div.f64"(%d, %d) : (f64, f64) -> f64 // expected-error {{runtime error: Divide by zero}}
  tfrt.return %q, %r, %s, %t, %u, %v : i32, i32, i64, i64, f32, f64
}

func @least_by_minus_one() -> (i32, i32, i64, i64) {
  %m = tfrt.constant.i32 -1
  %a = tfrt.constant.i32 -2147483648
  %q, %r = tfrt.div.i32 %a, %m
  %n = tfrt.constant.i64 -1
  %b = tfrt.constant.i64 -9223372036854775808
  %s, %t = tfrt.div.i64 %b, %n
  tfrt.return %q, %r, %s, %t : i32, i32, i64, i64
}

func @zero_by_zero() -> (i32, i32) {
  %z = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %z, %z // expected-error {{Divide by zero}}
  tfrt.return %q, %r : i32, i32
}
