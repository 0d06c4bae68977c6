// pipeline: builtin.module(canonicalize)
// Constants go to the front, equal ones become one, what nobody uses goes away.
func.func private @show(i64)
func.func @main(%m: memref<2xi64>) {
  %c0 = arith.constant 0 : index
  %unused = arith.addi %c0, %c0 : index
  %t, %v = async.execute -> !async.value<i64> {
    %x = arith.constant 5 : i64
    memref.store %x, %m[%c0] : memref<2xi64>
    async.yield %x : i64
  }
  %y = async.await %v : !async.value<i64>
  call @show(%y) : (i64) -> ()
  %z = arith.constant 0 : index
  %w = arith.constant 7 : i64
  memref.store %w, %m[%z] : memref<2xi64>
  return
}
