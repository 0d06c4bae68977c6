// The first failing await decides; the process goes on and the other task is not affected.
func.func @main() {
  %z = arith.constant false
  %bad = async.execute {
    cf.assert %z, "first"
    async.yield
  }
  %bad2 = async.execute [%bad] {
    cf.assert %z, "second"
    async.yield
  }
  %good = async.execute {
    %n = arith.constant 7 : i64
    func.call @printI64(%n) : (i64) -> ()
    async.yield
  }
  async.await %good : !async.token
  async.await %bad2 : !async.token
  return
}
func.func private @printI64(i64)
