func.func @main() {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %hundred = arith.constant 100 : i64
  %t, %v:2 = async.execute -> (!async.value<i64>, !async.value<i64>) {
    %r:2 = scf.while (%x = %one, %n = %zero) : (i64, i64) -> (i64, i64) {
      %go = arith.cmpi slt, %x, %hundred : i64
      scf.condition(%go) %x, %n : i64, i64
    } do {
    ^bb0(%x: i64, %n: i64):
      %ti, %d = async.execute -> !async.value<i64> {
        %y = arith.addi %x, %x : i64
        async.yield %y : i64
      }
      %y = async.await %d : !async.value<i64>
      %m = arith.addi %n, %one : i64
      scf.yield %y, %m : i64, i64
    }
    async.yield %r#0, %r#1 : i64, i64
  }
  %a = async.await %v#0 : !async.value<i64>
  %b = async.await %v#1 : !async.value<i64>
  call @printI64(%a) : (i64) -> ()
  call @sp() : () -> ()
  call @printI64(%b) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func.func private @sp() { return }
func.func private @printI64(i64)
func.func private @printNewline()
