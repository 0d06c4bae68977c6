// pipeline: builtin.module(async-await-in-calls)
// Functions that wait are async functions for tasks; those that main calls stay, too.
func.func @main(%v: !async.value<i64>, %g: !async.group) {
  %t, %x = async.execute -> !async.value<i64> {
    %y = func.call @both(%v) : (!async.value<i64>) -> i64
    func.call @harmless() : () -> ()
    async.yield %y : i64
  }
  func.call @all(%g) : (!async.group) -> ()
  return
}
func.func private @both(%v: !async.value<i64>) -> i64 {
  %x, %t = func.call @get(%v) : (!async.value<i64>) -> (i64, !async.token)
  async.await %t : !async.token
  return %x : i64
}
func.func private @get(%v: !async.value<i64>) -> (i64, !async.token) {
  %x = async.await %v : !async.value<i64>
  %t = async.execute {
    async.yield
  }
  return %x, %t : i64, !async.token
}
func.func private @all(%g: !async.group) {
  async.await_all %g
  return
}
async.func @later(%g: !async.group) -> !async.token {
  func.call @all(%g) : (!async.group) -> ()
  return
}
func.func private @harmless() {
  return
}
