// pipeline: builtin.module(async-to-async-runtime{token-last keep-errors spawn},async-runtime-ref-counting)
// A task that never waits is spawned: its function returns what it yields, and owns what it captures.
func.func @main(%x: i64, %t: !async.token, %g: !async.group) -> !async.value<i64> {
  %u, %v = async.execute -> !async.value<i64> {
    %y = arith.addi %x, %x : i64
    %inner = async.execute {
      %r = async.add_to_group %t, %g : !async.token
      async.yield
    }
    async.yield %y : i64
  }
  return %v : !async.value<i64>
}
