// What fails in a region points into the region.
// call: main 0
// result: i32 error 'division by zero'
// error: division by zero, at %q = arith.divsi %one, %a : i32
func.func @main(%x: i32) -> i32 {
  %r = tfrt.jit (%x as %a: i32) -> i32 {
    %one = arith.constant 1 : i32
    %q = arith.divsi %one, %a : i32
    tfrt.return %q : i32
  }
  tfrt.return %r : i32
}
