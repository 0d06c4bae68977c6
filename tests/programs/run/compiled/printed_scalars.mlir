// What prints a scalar; functions of the program with names of the library.
func.func private @printI64(i64)
func.func private @printU64(i64)
func.func private @printF64(f64)
func.func private @printFlops(f64)
func.func private @print_i1(i1)
func.func private @print_i32(i32)
func.func private @print_i64(i64)
func.func private @print_f64(f64)
func.func private @print_flops(f64)
func.func private @printNewline()
func.func @sin(%x: i64) -> i64 {
  return %x : i64
}
func.func @memcpy(%x: f64) -> f64 {
  %y = math.sin %x : f64
  return %y : f64
}
func.func @main() -> (i64, f64) {
  %seven = arith.constant 7 : i64
  %float = arith.constant 7.0 : f64
  %zero = arith.constant 0.0 : f64
  %number = arith.constant -789 : i32
  %yes = arith.constant true
  call @printI64(%seven) : (i64) -> ()
  call @printNewline() : () -> ()
  call @printU64(%seven) : (i64) -> ()
  call @printNewline() : () -> ()
  call @printF64(%float) : (f64) -> ()
  call @printNewline() : () -> ()
  call @printFlops(%float) : (f64) -> ()
  call @printNewline() : () -> ()
  call @print_i1(%yes) : (i1) -> ()
  call @printNewline() : () -> ()
  call @print_i32(%number) : (i32) -> ()
  call @printNewline() : () -> ()
  call @print_i64(%seven) : (i64) -> ()
  call @printNewline() : () -> ()
  call @print_f64(%float) : (f64) -> ()
  call @printNewline() : () -> ()
  call @print_flops(%float) : (f64) -> ()
  call @printNewline() : () -> ()
  %x = call @sin(%seven) : (i64) -> i64
  %y = call @memcpy(%zero) : (f64) -> f64
  return %x, %y : i64, f64
}
