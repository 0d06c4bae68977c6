async.func @a(%n: i64) -> (!async.token, !async.value<i64>) {
  %z = arith.constant 3 : i64
  %ok = arith.cmpi slt, %n, %z : i64
  cf.assert %ok, "too deep"
  %one = arith.constant 1 : i64
  %m = arith.addi %n, %one : i64
  %t, %v = async.call @a(%m) : (i64) -> (!async.token, !async.value<i64>)
  %r = await %v : !async.value<i64>
  return %r : i64
}
func.func @main() {
  %z = arith.constant 0 : i64
  %t, %v = async.call @a(%z) : (i64) -> (!async.token, !async.value<i64>)
  async.await %t : !async.token
  return
}
