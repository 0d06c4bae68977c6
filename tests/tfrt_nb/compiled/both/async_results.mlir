// Tokens are chains, async values are values; a coroutine suspends and the host program goes on.
// call: main 20
// result: !tfrt.chain available CHAIN
// result: i32 available 42
// result: f64 available 2.5
func.func @main(%x: i32) -> (!tfrt.chain, i32, f64) {
  %c, %y, %h = tfrt.call @work(%x) : (i32) -> (!tfrt.chain, i32, f64)
  %two = tfrt.constant.i32 2
  %z = tfrt.add.i32 %y, %two
  tfrt.return %c, %z, %h : !tfrt.chain, i32, f64
}
async.func @work(%x: i32) -> (!async.token, !async.value<i32>, !async.value<f64>) {
  %h = arith.constant 2.5 : f64
  %t, %v = async.execute -> !async.value<i32> {
    %y = arith.addi %x, %x : i32
    async.yield %y : i32
  }
  await %t : !async.token
  %r = await %v : !async.value<i32>
  return %r, %h : i32, f64
}
