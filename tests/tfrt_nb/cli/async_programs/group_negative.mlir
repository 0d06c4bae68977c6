func.func @main() {
  %n = arith.constant -3 : index
  %t = async.execute {
    %k = arith.constant 3 : i64
    %g = async.create_group %n : !async.group
    async.await_all %g
    async.yield
  }
  async.await %t : !async.token
  return
}

func.func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
