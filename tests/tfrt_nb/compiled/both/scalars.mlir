// Every kind of number crosses as it is, both ways.
// call: main true 100 30000 2000000000 9000000000000000000 11 -1.5 0.1
// result: i1 available True
// result: i8 available -100
// result: i16 available -30000
// result: i32 available -2000000000
// result: i64 available -9000000000000000000
// result: i64 available 12
// result: f32 available 1.5
// result: f64 available -0.1
func.func @main(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: i64, %g: f32, %h: f64) -> (i1, i8, i16, i32, i64, i64, f32, f64) {
  %r:8 = tfrt.call @numbers(%a, %b, %c, %d, %e, %f, %g, %h) : (i1, i8, i16, i32, i64, i64, f32, f64) -> (i1, i8, i16, i32, i64, i64, f32, f64)
  tfrt.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7 : i1, i8, i16, i32, i64, i64, f32, f64
}
func.func @numbers(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: index, %g: f32, %h: f64) -> (i1, i8, i16, i32, i64, index, f32, f64) {
  %z8 = arith.constant 0 : i8
  %z16 = arith.constant 0 : i16
  %z32 = arith.constant 0 : i32
  %z64 = arith.constant 0 : i64
  %one = arith.constant 1 : index
  %b2 = arith.subi %z8, %b : i8
  %c2 = arith.subi %z16, %c : i16
  %d2 = arith.subi %z32, %d : i32
  %e2 = arith.subi %z64, %e : i64
  %f2 = arith.addi %f, %one : index
  %g2 = arith.negf %g : f32
  %h2 = arith.negf %h : f64
  return %a, %b2, %c2, %d2, %e2, %f2, %g2, %h2 : i1, i8, i16, i32, i64, index, f32, f64
}
