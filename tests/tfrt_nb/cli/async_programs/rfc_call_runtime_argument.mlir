func @async_function(%arg0: !async.runtime) {
  %c = arith.constant 789 : i64
  call @show(%c): (i64) -> ()
  return
}
func @main() {
  %runtime = async.default_runtime : !async.runtime
  %handle = async.call @async_function(%runtime): (!async.runtime) -> !async.handle
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
