// pipeline: builtin.module(async-to-async-runtime{token-last keep-errors spawn},async-runtime-ref-counting)
// A task that waits only for what it is given before its body is spawned, too: the body takes the payloads.
func.func @main(%t: !async.token, %v: !async.value<i64>, %x: i64) -> !async.value<i64> {
  %u, %w = async.execute [%t] (%v as %y: !async.value<i64>) -> !async.value<i64> {
    %z = arith.addi %x, %y : i64
    async.yield %z : i64
  }
  return %w : !async.value<i64>
}
