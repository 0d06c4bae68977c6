// pipeline: builtin.module(async-mark-explicit-counts,async-runtime-ref-counting{leave-counted})
// Values are counted whatever the program does, except where it gives up more than it takes.
func.func @main(%ok: i1) {
  %pair = async.runtime.create : !async.token
  %by_hand = async.runtime.create : !async.token
  async.runtime.add_ref %pair {count = 2 : i64} : !async.token
  async.runtime.await %pair : !async.token
  async.runtime.await %by_hand : !async.token
  async.runtime.drop_ref %pair {count = 2 : i64} : !async.token
  async.runtime.drop_ref %by_hand {count = 1 : i64} : !async.token
  return
}
