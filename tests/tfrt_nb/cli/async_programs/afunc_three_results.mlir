// An async function with a token and two values calls and is called.
func.func private @printI64(i64)
func.func private @printNewline()
async.func @f(%x: f32) -> (!async.token, !async.value<f32>, !async.value<i64>) {
  %one = arith.constant 1.0 : f32
  %y = arith.addf %x, %one : f32
  %i = arith.fptosi %y : f32 to i64
  return %y, %i : f32, i64
}
async.func @g(%t: !async.token, %v: !async.value<f32>) -> !async.value<i64> {
  await %t : !async.token
  %x = await %v : !async.value<f32>
  %t2, %a, %b = async.call @f(%x) : (f32) -> (!async.token, !async.value<f32>, !async.value<i64>)
  %y = async.await %b : !async.value<i64>
  %z = await %a : !async.value<f32>
  %w = arith.fptosi %z : f32 to i64
  %q = arith.addi %y, %w : i64
  return %q : i64
}
func.func @main() {
  %c = arith.constant 2.5 : f32
  %t, %a, %b = async.call @f(%c) : (f32) -> (!async.token, !async.value<f32>, !async.value<i64>)
  %r = async.call @g(%t, %a) : (!async.token, !async.value<f32>) -> !async.value<i64>
  %x = async.await %r : !async.value<i64>
  %y = async.await %b : !async.value<i64>
  func.call @printI64(%x) : (i64) -> ()
  func.call @printNewline() : () -> ()
  func.call @printI64(%y) : (i64) -> ()
  return
}
