// parallel-for: num-workers=4 min-task-size=7
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100 : index
  %z = arith.constant 0 : i64
  %r:2 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z, %z) -> (i64, i64) {
    %x = arith.index_cast %i : index to i64
    scf.reduce(%x, %x : i64, i64) {
    ^bb0(%a: i64, %b: i64):
      %s = arith.addi %a, %b : i64
      scf.reduce.return %s : i64
    }, {
    ^bb0(%a: i64, %b: i64):
      %s = arith.maxsi %a, %b : i64
      scf.reduce.return %s : i64
    }
  }
  call @printI64(%r#0) : (i64) -> ()
  call @printComma() : () -> ()
  call @printI64(%r#1) : (i64) -> ()
  return
}
func.func private @printI64(i64)
func.func private @printComma()
