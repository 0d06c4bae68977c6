func.func @after(%t: !async.token, %v: !async.value<i64>) -> !async.value<i64> {
  %u, %w = async.execute [%t] (%v as %x: !async.value<i64>) -> !async.value<i64> {
    %y = arith.addi %x, %x : i64
    async.yield %y : i64
  }
  return %w : !async.value<i64>
}
func.func @main() {
  %three = arith.constant 3 : i64
  %t, %v = async.execute -> !async.value<i64> { async.yield %three : i64 }
  %w = call @after(%t, %v) : (!async.token, !async.value<i64>) -> !async.value<i64>
  %x = async.await %w : !async.value<i64>
  call @printI64(%x) : (i64) -> ()
  return
}
func.func private @printI64(i64)
