func @f(%x: i64) -> i64 {
  call @show(%x) : (i64) -> ()
  return %x : i64
}
func @main() {
  %rt = async.default_runtime : !async.runtime
  %x = arith.constant 1 : i64
  %h = async.call %rt : !async.runtime @f(%x) : (i64) -> !async.handle
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
