func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloc(%c4) : memref<?xi64>
  %sub = memref.alloc() : memref<2x2xi64>
  %t = async.execute {
    scf.for %i = %c0 to %c4 step %c1 {
      %x = arith.index_cast %i : index to i64
      %two = arith.constant 2 : i64
      %three = arith.constant 3 : i64
      %y = arith.muli %x, %two : i64
      %z = arith.addi %y, %three : i64
      memref.store %z, %m[%i] : memref<?xi64>
    }
    async.yield
  }
  %u = async.execute [%t] {
    %n = memref.dim %m, %c0 : memref<?xi64>
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %m[%i] : memref<?xi64>
      func.call @printI64(%x) : (i64) -> ()
      func.call @printComma() : () -> ()
    }
    async.yield
  }
  async.await %u : !async.token
  call @printNewline() : () -> ()
  memref.dealloc %m : memref<?xi64>
  memref.dealloc %sub : memref<2x2xi64>
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
func.func private @printComma()
