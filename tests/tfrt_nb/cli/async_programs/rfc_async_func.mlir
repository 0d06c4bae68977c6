async.func @async_fn(%arg0: !async.runtime) {
  %c = arith.constant 4 : i64
  call @show(%c): (i64) -> ()
  async.return
}
func @main() {
  %runtime = async.default_runtime : !async.runtime
  %handle = async.call @async_fn(%runtime): (!async.runtime) -> !async.handle
  async.sync_await %handle : !async.handle
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
