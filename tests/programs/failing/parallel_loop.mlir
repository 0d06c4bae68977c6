// parallel-for: num-workers=4 min-task-size=1
func.func @main() {
  %lo = arith.constant 0 : index
  %hi = arith.constant 9 : index
  %one = arith.constant 1 : index
  %seven = arith.constant 7 : index
  scf.parallel (%i) = (%lo) to (%hi) step (%one) {
    %ok = arith.cmpi ne, %i, %seven : index
    cf.assert %ok, "not the seventh"
  }
  return
}
