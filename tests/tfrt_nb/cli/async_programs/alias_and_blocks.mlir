// Types by alias, values as arguments, an await in each branch.
func.func private @printI64(i64)
!t = !async.value<i32>
func.func @pick(%c: i1, %a: !t, %b: !t) -> i32 {
  cf.cond_br %c, ^x, ^y
^x:
  %0 = async.await %a : !t
  cf.br ^z(%0 : i32)
^y:
  %1 = async.await %b : !async.value<i32>
  cf.br ^z(%1 : i32)
^z(%r: i32):
  return %r : i32
}
func.func @main() {
  %true = arith.constant true
  %false = arith.constant false
  %t, %a = async.execute -> !t {
    %c = arith.constant -3 : i32
    async.yield %c : i32
  }
  %u, %b = async.execute -> !t {
    %c = arith.constant 0x7F : i32
    async.yield %c : i32
  }
  %x = call @pick(%true, %a, %b) : (i1, !t, !t) -> i32
  %y = call @pick(%false, %a, %b) : (i1, !t, !t) -> i32
  %z = arith.muli %x, %y : i32
  %w = arith.extsi %z : i32 to i64
  call @printI64(%w) : (i64) -> ()
  return
}
