func.func @main() {
  %two = arith.constant 2.0 : f64
  %three = arith.constant 3 : i32
  %a = math.fpowi %two, %three : f64, i32
  %q = arith.constant 4.0 : f64
  %b = math.rsqrt %q : f64
  call @printF64(%a) : (f64) -> ()
  call @printComma() : () -> ()
  call @printF64(%b) : (f64) -> ()
  return
}
func.func private @printF64(f64)
func.func private @printComma()
