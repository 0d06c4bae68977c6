// Functions of the program's own may be called like those that print.
func.func @printComma() {
  return
}
func.func @printF32(%x: i32) {
  vector.print %x : i32
  return
}
func.func @main() {
  %own = arith.constant 7 : i32
  call @printF32(%own) : (i32) -> ()
  call @printComma() : () -> ()
  %a = arith.constant 1.5 : f32
  %b = arith.constant true
  %c = arith.constant -3 : index
  %d = arith.constant -3 : i64
  %e = arith.constant -3 : i8
  %f = arith.constant 1.0e10 : f64
  %g = arith.constant 2.5 : f16
  %h = arith.constant 2.5 : bf16
  %i = arith.constant -1 : i1
  %l = arith.constant 123456789012 : i40
  %m = arith.constant 3 : i3
  %x = arith.constant 0x7FC00000 : f32
  %y = arith.constant 0xFF800000 : f32
  %z = arith.constant -0.0 : f64
  vector.print %a : f32
  vector.print %b : i1
  vector.print %c : index
  vector.print %d : i64
  vector.print %e : i8
  vector.print %f : f64
  vector.print %g : f16
  vector.print %h : bf16
  vector.print %i : i1
  vector.print %l : i40
  vector.print %m : i3
  vector.print %x : f32
  vector.print %y : f32
  vector.print %z : f64
  %big = arith.constant 16777217.0 : f64
  vector.print %big : f64
  %small = arith.constant 1.0e-7 : f32
  vector.print %small : f32
  %third = arith.constant 0.3333333333333333333 : f64
  vector.print %third : f64
  %n = arith.constant 255 : i8
  vector.print %n : i8
  return
}
