// Four levels; each captures from all levels above.
func.func @main() {
  %a = arith.constant 2 : i64
  %t0, %v0 = async.execute -> !async.value<i64> {
    %b = arith.constant 3 : i64
    %t1, %v1 = async.execute -> !async.value<i64> {
      %c = arith.constant 4 : i64
      %t2, %v2 = async.execute -> !async.value<i64> {
        %d = arith.constant 5 : i64
        %x = arith.muli %a, %b : i64
        %y = arith.muli %c, %d : i64
        %z = arith.muli %x, %y : i64
        async.yield %z : i64
      }
      %r2 = async.await %v2 : !async.value<i64>
      async.await %t2 : !async.token
      async.yield %r2 : i64
    }
    %r1 = async.await %v1 : !async.value<i64>
    async.yield %r1 : i64
  }
  %r = async.await %v0 : !async.value<i64>
  call @printI64(%r) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
