// Whatever calls a function may call a compiled one.
// call: main 5 true
// result: i32 available 15
// result: i32 available 10
// result: i32 available 160
func.func @main(%x: i32, %c: i1) -> (i32, i32, i32) {
  %a = tfrt.call @triple(%x) : (i32) -> i32
  %b = tfrt.cond %c @twice @triple (%x) : (i32) -> (i32)
  %n = tfrt.constant.i32 5
  %r = tfrt.repeat.i32 %n, %x : i32 {
    %y = tfrt.call @twice(%x) : (i32) -> i32
    tfrt.return %y : i32
  }
  tfrt.return %a, %b, %r : i32, i32, i32
}
async.func @twice(%x: !async.value<i32>) -> !async.value<i32> {
  %v = await %x : !async.value<i32>
  %y = arith.addi %v, %v : i32
  return %y : i32
}
func.func @triple(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  %z = arith.addi %y, %x : i32
  return %z : i32
}
