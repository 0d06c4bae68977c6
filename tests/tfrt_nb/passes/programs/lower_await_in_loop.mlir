// pipeline: builtin.module(async-func-to-async-runtime)
// A loop around an await becomes blocks; a loop without one stays.
func.func private @work(index)
async.func @waits(%t: !async.token, %n: index) -> !async.token {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    async.await %t : !async.token
  }
  scf.for %i = %c0 to %n step %c1 {
    func.call @work(%i) : (index) -> ()
  }
  return
}
