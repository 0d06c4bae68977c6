func @job(%rt: !async.runtime) -> !async.handle {
  %one = arith.constant 1 : i64
  call @show(%one) : (i64) -> ()
  %h = async.ret_handle : !async.handle
  return %h : !async.handle
}
func @main() {
  %rt = async.default_runtime : !async.runtime
  %h = async.call %rt : !async.runtime @job(%rt) : (!async.runtime) -> !async.handle
  async.sync_await %h : !async.handle
  %two = arith.constant 2 : i64
  call @show(%two) : (i64) -> ()
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
