async.func @count(%lo: index, %hi: index) -> !async.token {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %lo to %hi step %c1 {
    %low = arith.cmpi slt, %i, %c5 : index
    scf.if %low {
      %t = async.execute {
        %x = arith.index_cast %i : index to i64
        func.call @printI64(%x) : (i64) -> ()
        async.yield
      }
      async.await %t : !async.token
    } else {
      %t, %v = async.execute -> !async.value<index> {
        async.yield %i : index
      }
      %w = async.await %v : !async.value<index>
      %x = arith.index_cast %w : index to i64
      func.call @printI64(%x) : (i64) -> ()
    }
  }
  return
}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %t = async.call @count(%c0, %c10) : (index, index) -> !async.token
  async.await %t : !async.token
  return
}
func.func private @printI64(i64)
