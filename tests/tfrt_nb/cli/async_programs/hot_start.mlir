async.func @start(%n: i64) -> !async.token {
  func.call @printI64(%n) : (i64) -> ()
  %t = async.execute { async.yield }
  await %t : !async.token
  return
}
func.func @main() {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %a = async.call @start(%one) : (i64) -> !async.token
  call @printI64(%two) : (i64) -> ()
  async.await %a : !async.token
  return
}
func.func private @printI64(i64)
