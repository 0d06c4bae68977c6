func @main() {
  %rt = async.default_runtime : !async.runtime
  %x = constant 1 : i64
  %y = constant 2 : i64
  %a = async.region %rt {
    call @show(%x) : (i64) -> ()
    async.yield
  } -> !async.handle
  %b = async.region %rt [%a] {
    call @show(%y) : (i64) -> ()
    async.yield
  } -> !async.handle
  async.sync_await %b
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
