func @job(%rt: !async.runtime) -> !async.handle {
  %ret = async.ret_handle : !async.handle
  %t = async.region %rt {
    %x = constant 8 : i64
    call @show(%x) : (i64) -> ()
    async.emplace_handle %ret : !async.handle
    async.yield
  }
  return %ret : !async.handle
}
func @main() {
  %rt = async.default_runtime : !async.runtime
  %h = call @job(%rt) : (!async.runtime) -> !async.handle
  async.sync_await %h : !async.handle
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
