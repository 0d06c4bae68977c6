func.func @main() {
  %c = arith.constant true
  %a = async.execute { async.yield }
  %b = async.execute { async.yield }
  %t = arith.select %c, %a, %b : !async.token
  async.await %t : !async.token
  %one = arith.constant 1 : i64
  call @printI64(%one) : (i64) -> ()
  return
}
func.func private @printI64(i64)
