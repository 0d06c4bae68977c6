// An error operand skips the kernel, unless the function awaits it: then the await fails.
// call: main 1 0
// result: i32 error 'Divide by zero'
// result: i32 error 'Divide by zero'
// result: i32 available 5
// error: Divide by zero, at %q, %r = tfrt.div.i32 %x, %zero
// output: 1
func.func @main(%x: i32, %zero: i32) -> (i32, i32, i32) {
  %q, %r = tfrt.div.i32 %x, %zero
  %a = tfrt.call @strict(%q) : (i32) -> i32
  %b, %c = tfrt.call @awaits(%q) : (i32) -> (i32, i32)
  tfrt.return %a, %b, %c : i32, i32, i32
}
func.func private @printI64(i64)
func.func @strict(%x: i32) -> i32 {
  %two = arith.constant 2 : i64
  func.call @printI64(%two) : (i64) -> ()
  return %x : i32
}
func.func @awaits(%x: !async.value<i32>) -> (!async.value<i32>, i32) {
  %one = arith.constant 1 : i64
  func.call @printI64(%one) : (i64) -> ()
  %t, %v = async.execute (%x as %y: !async.value<i32>) -> !async.value<i32> {
    async.yield %y : i32
  }
  %five = arith.constant 5 : i32
  return %v, %five : !async.value<i32>, i32
}
