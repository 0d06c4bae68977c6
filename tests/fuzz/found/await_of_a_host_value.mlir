// A function starts without what it awaits itself: here it prints before the slow value is there.
// call: main 3 4
// output: 7
// result: i32 available 7
func.func private @printI64(i64)
func.func @main(%x: i32, %y: i32) -> i32 {
  %slow = "tfrt_test.async_add.i32"(%x, %y) : (i32, i32) -> i32
  %c = tfrt.new.chain
  %r = tfrt.call @late(%slow, %c) : (i32, !tfrt.chain) -> i32
  tfrt.return %r : i32
}
async.func @late(%v: !async.value<i32>, %t: !async.token) -> !async.value<i32> {
  %seven = arith.constant 7 : i64
  func.call @printI64(%seven) : (i64) -> ()
  await %t : !async.token
  %x = await %v : !async.value<i32>
  return %x : i32
}
