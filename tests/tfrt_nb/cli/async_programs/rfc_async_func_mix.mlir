async.func @new(%before: !async.handle) -> !async.handle {
  await %before : !async.handle
  %x = arith.constant 2 : i64
  func.call @show(%x) : (i64) -> ()
  return
}
func @main() {
  %a = async.default_runtime : !async.runtime
  %x = arith.constant 1 : i64
  %b = async.region %a {
    call @show(%x) : (i64) -> ()
    async.yield
  }
  %c = async.call @new(%b) : (!async.handle) -> !async.handle
  async.sync_await %c : !async.handle
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
