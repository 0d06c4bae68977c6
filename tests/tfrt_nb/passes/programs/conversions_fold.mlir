// pipeline: builtin.module(async-func-to-async-runtime,async-to-async-runtime,convert-scf-to-cf)
// A conversion folds each operation once, by the operands that it had before.
func.func private @use(index)
async.func @f(%x: index, %c: i1) -> !async.value<index> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %five = arith.addi %two, %three : index
  %eight = arith.addi %five, %three : index
  %moved = arith.addi %three, %x : index
  %true = arith.constant true
  %no = arith.xori %c, %true : i1
  scf.if %no {
    func.call @use(%five) : (index) -> ()
  } else {
    func.call @use(%eight) : (index) -> ()
  }
  %t = async.execute {
    %six = arith.addi %three, %three : index
    func.call @use(%six) : (index) -> ()
    async.yield
  }
  async.await %t : !async.token
  return %moved : index
}
