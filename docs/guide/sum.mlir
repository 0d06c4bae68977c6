func.func @main() -> i64 {
  %a = arith.constant 40 : i64
  %token, %two = async.execute -> !async.value<i64> {
    %two = arith.constant 2 : i64
    async.yield %two : i64
  }
  %b = async.await %two : !async.value<i64>
  %sum = arith.addi %a, %b : i64
  return %sum : i64
}
