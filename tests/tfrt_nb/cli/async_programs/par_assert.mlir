// parallel-for: num-workers=4 min-task-size=1
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %c11 = arith.constant 11 : index
    %ok = arith.cmpi ne, %i, %c11 : index
    cf.assert %ok, "eleven"
    scf.reduce
  }
  %one = arith.constant 1 : i64
  call @printI64(%one) : (i64) -> ()
  return
}
func.func private @printI64(i64)
