async.func @sum(%n: index) -> !async.value<i64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0 : i64
  cf.br ^head(%c0, %z : index, i64)
^head(%i: index, %acc: i64):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^exit(%acc : i64)
^body:
  %t, %v = async.execute -> !async.value<i64> {
    %x = arith.index_cast %i : index to i64
    async.yield %x : i64
  }
  %x = await %v : !async.value<i64>
  %next = arith.addi %acc, %x : i64
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %next : index, i64)
^exit(%r: i64):
  return %r : i64
}
func.func @main() {
  %n = arith.constant 10 : index
  %v = async.call @sum(%n) : (index) -> !async.value<i64>
  %r = async.await %v : !async.value<i64>
  call @printI64(%r) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
