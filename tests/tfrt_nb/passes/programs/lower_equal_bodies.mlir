// pipeline: builtin.module(async-to-async-runtime)
// Each task has a function of its own, as in MLIR, unless sharing is asked for; scf.if has its blocks.
func.func private @show(i64)
func.func @main(%c: i1, %x: i64) {
  %t = async.execute {
    func.call @show(%x) : (i64) -> ()
    async.yield
  }
  %u, %v = async.execute [%t] -> !async.value<i64> {
    %y = scf.if %c -> i64 {
      async.await %t : !async.token
      scf.yield %x : i64
    } else {
      scf.yield %x : i64
    }
    async.yield %y : i64
  }
  %w = async.execute {
    func.call @show(%x) : (i64) -> ()
    async.yield
  }
  async.await %w : !async.token
  return
}
