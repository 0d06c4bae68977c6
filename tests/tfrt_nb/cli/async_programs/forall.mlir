// scf.forall with static and dynamic bounds, and awaits in it.
func.func private @printI64(i64)
func.func private @printComma()
func.func private @printNewline()
func.func private @show(%i: index) {
  %0 = arith.index_cast %i : index to i64
  call @printI64(%0) : (i64) -> ()
  call @printComma() : () -> ()
  return
}
func.func @main() {
  %n = arith.constant 3 : index
  scf.forall (%i, %j) in (%n, 2) {
    %0 = arith.muli %i, %n : index
    %1 = arith.addi %0, %j : index
    func.call @show(%1) : (index) -> ()
  }
  call @printNewline() : () -> ()
  %t = async.execute {
    scf.forall (%i) = (1) to (10) step (%n) {
      %u, %v = async.execute -> !async.value<index> {
        %x = arith.addi %i, %n : index
        async.yield %x : index
      }
      %y = async.await %v : !async.value<index>
      func.call @show(%y) : (index) -> ()
      scf.forall.in_parallel {
      }
    }
    async.yield
  }
  async.await %t : !async.token
  call @printNewline() : () -> ()
  return
}
