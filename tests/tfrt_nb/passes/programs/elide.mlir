// pipeline: builtin.module(async-func-to-async-runtime,async-elide-coroutines)
// A function that never waits needs no frame; one that does keeps it.
async.func @at_once(%x: i64) -> !async.value<i64> {
  return %x : i64
}
async.func @later(%t: !async.token) -> !async.token {
  async.await %t : !async.token
  return
}
