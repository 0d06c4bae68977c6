// fib by tasks, not async.func: a plain function that blocks inside of tasks.
func.func @fib(%n: i64) -> i64 {
  %two = arith.constant 2 : i64
  %one = arith.constant 1 : i64
  %small = arith.cmpi slt, %n, %two : i64
  %r = scf.if %small -> i64 {
    scf.yield %n : i64
  } else {
    %a = arith.subi %n, %one : i64
    %b = arith.subi %n, %two : i64
    %t, %x = async.execute -> !async.value<i64> {
      %f = func.call @fib(%a) : (i64) -> i64
      async.yield %f : i64
    }
    %y = func.call @fib(%b) : (i64) -> i64
    %z = async.await %x : !async.value<i64>
    %s = arith.addi %z, %y : i64
    scf.yield %s : i64
  }
  return %r : i64
}
func.func @main() {
  %n = arith.constant 10 : i64
  %r = call @fib(%n) : (i64) -> i64
  call @printOpen() : () -> ()
  call @printI64(%r) : (i64) -> ()
  call @printClose() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printOpen()
func.func private @printClose()
