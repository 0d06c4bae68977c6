// pipeline: builtin.module(async-to-async-runtime{share-bodies})
// Two tasks with equal bodies share a coroutine; a third computes something else.
func.func @three(%a: i64, %b: i64) {
  %s = async.execute {
    %x = arith.addi %a, %b : i64
    async.yield
  }
  %t = async.execute {
    %y = arith.addi %b, %a : i64
    async.yield
  }
  %u = async.execute {
    %z = arith.muli %a, %b : i64
    async.yield
  }
  return
}
