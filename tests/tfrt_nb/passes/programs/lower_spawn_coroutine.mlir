// pipeline: builtin.module(async-to-async-runtime{token-last keep-errors spawn},async-runtime-ref-counting)
// A task that waits after it has begun is spawned as a coroutine: it gets its results, and payloads, and holds
// no reference of its own results.
func.func private @work(i64)
func.func @main(%n: i64, %v: !async.value<i64>, %d: !async.token) -> !async.value<i64> {
  %t, %r = async.execute [%d] (%v as %x: !async.value<i64>) -> !async.value<i64> {
    func.call @work(%x) : (i64) -> ()
    %y = async.await %v : !async.value<i64>
    %z = arith.addi %y, %n : i64
    async.yield %z : i64
  }
  return %r : !async.value<i64>
}
