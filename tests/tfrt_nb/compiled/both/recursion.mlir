// Both kinds in one recursion, as deep as host programs go.
// call: main 1000
// result: i32 available 1000
func.func @main(%n: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %is_zero = tfrt.equal.i32 %n, %zero
  %r = tfrt.cond %is_zero @end @deeper (%n) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @end(%n: i32) -> i32 {
  tfrt.return %n : i32
}
func.func @deeper(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %m = tfrt.call @less(%n) : (i32) -> i32
  %x = tfrt.call @main(%m) : (i32) -> i32
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}
async.func private @less(%n: i32) -> !async.value<i32> {
  %one = arith.constant 1 : i32
  %t, %v = async.execute -> !async.value<i32> {
    %m = arith.subi %n, %one : i32
    async.yield %m : i32
  }
  %m = await %v : !async.value<i32>
  return %m : i32
}
