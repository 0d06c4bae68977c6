func.func @main() {
  %a = async.runtime.create : !async.token
  %t = async.execute {
    async.runtime.set_error %a : !async.token
    async.yield
  }
  %u = async.execute [%a] {
    async.yield
  }
  async.await %u : !async.token
  return
}

func.func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
