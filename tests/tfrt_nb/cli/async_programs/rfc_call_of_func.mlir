func @plain(%n: i64) -> !async.handle {
  call @show(%n) : (i64) -> ()
  async.return
}
func.func @empty(%n: i64) -> !async.value<> {
  func.call @show(%n) : (i64) -> ()
  async.return
}
func.func @main() {
  %three = arith.constant 3 : i64
  %h = async.call @plain(%three) : (i64) -> !async.handle
  async.await %h : !async.handle
  %four = arith.constant 4 : i64
  %v = async.call @empty(%four) : (i64) -> !async.value<>
  async.await %v : !async.value<>
  %w = call @plain(%four) : (i64) -> !async.handle
  async.await %w : !async.handle
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
