func.func @main() {
  %t = async.execute {
    async.yield
  }
  %o = arith.constant true
  %f = arith.constant false
  async.runtime.add_ref %t {count = 3 : i64} : !async.token
  cf.assert %o, "one"
  cf.assert %o, "two"
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  cf.assert %o, "three"
  cf.assert %o, "four"
  cf.assert %f, "five"
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 2 : i64} : !async.token
  return
}

func.func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
