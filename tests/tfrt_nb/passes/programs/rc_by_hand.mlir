// pipeline: builtin.module(async-runtime-ref-counting{leave-counted})
// A value that the program counts is left alone, another one is counted.
func.func @main() {
  %by_hand = async.runtime.create : !async.token
  %other = async.runtime.create : !async.token
  async.runtime.set_available %by_hand : !async.token
  async.runtime.set_available %other : !async.token
  async.runtime.add_ref %by_hand {count = 1 : i64} : !async.token
  func.call @take(%by_hand) : (!async.token) -> ()
  func.call @take(%other) : (!async.token) -> ()
  async.runtime.drop_ref %by_hand {count = 1 : i64} : !async.token
  return
}
func.func @take(%t: !async.token) {
  async.runtime.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}
