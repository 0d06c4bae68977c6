// parallel-for: num-workers=3 min-task-size=1
func.func @main() {
  %m = memref.alloc() : memref<8x8xi64>
  %t = async.execute {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
      %a = arith.muli %i, %c8 : index
      %b = arith.addi %a, %j : index
      %x = arith.index_cast %b : index to i64
      memref.store %x, %m[%i, %j] : memref<8x8xi64>
      scf.reduce
    }
    async.yield
  }
  async.await %t : !async.token
  %r = call @sum(%m) : (memref<8x8xi64>) -> i64
  call @printI64(%r) : (i64) -> ()
  call @printNewline() : () -> ()
  memref.dealloc %m : memref<8x8xi64>
  return
}
func.func @sum(%m: memref<8x8xi64>) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0 : i64
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %z) -> (i64) {
    %s1 = scf.for %j = %c0 to %c8 step %c1 iter_args(%b = %a) -> (i64) {
      %x = memref.load %m[%i, %j] : memref<8x8xi64>
      %y = arith.addi %b, %x : i64
      scf.yield %y : i64
    }
    scf.yield %s1 : i64
  }
  return %s : i64
}
func.func private @printI64(i64)
func.func private @printNewline()
