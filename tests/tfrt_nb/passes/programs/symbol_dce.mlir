// pipeline: builtin.module(symbol-dce)
// Private functions that only unused ones name go, too.
func.func private @declared()
func.func private @unused() {
  func.call @used_by_unused() : () -> ()
  func.call @unused() : () -> ()
  return
}
func.func private @used_by_unused() {
  return
}
func.func private @kept() {
  return
}
async.func private @task() -> !async.token {
  %t = async.execute {
    func.call @kept() : () -> ()
    async.yield
  }
  return
}
memref.global "private" constant @table : memref<2xi32> = dense<[1, 2]>
func.func @main() {
  %t = async.call @task() : () -> !async.token
  return
}
