// A hundred thousand calls, each waiting for the one before it.
// call: main 100000
// result: i32 available 100000
func.func @main(%n: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %r = tfrt.repeat.i32 %n, %zero : i32 {
    %y = tfrt.call @next(%zero) : (i32) -> i32
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}
async.func @next(%x: !async.value<i32>) -> !async.value<i32> {
  %one = arith.constant 1 : i32
  %v = await %x : !async.value<i32>
  %t, %w = async.execute -> !async.value<i32> {
    %y = arith.addi %v, %one : i32
    async.yield %y : i32
  }
  %y = await %w : !async.value<i32>
  return %y : i32
}
