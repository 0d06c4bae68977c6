func.func @main() {
  %a = arith.constant 1 : i32
  %b = arith.constant 6 : i32
  %z = arith.constant 0 : i32
  %s = scf.for %i = %a to %b step %a iter_args(%x = %z) -> (i32) : i32 {
    %y = arith.addi %x, %i : i32
    scf.yield %y : i32
  }
  %e = arith.extsi %s : i32 to i64
  call @printI64(%e) : (i64) -> ()
  return
}
func.func private @printI64(i64)
