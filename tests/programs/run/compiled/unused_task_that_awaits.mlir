// A task that awaits, and whose token nothing uses.
func.func @main() {
  %t = async.execute {
    async.yield
  }
  %u = async.execute {
    async.await %t : !async.token
    async.yield
  }
  async.await %t : !async.token
  return
}
