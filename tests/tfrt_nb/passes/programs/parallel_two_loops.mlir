// pipeline: builtin.module(async-parallel-for{async-dispatch=false})
func.func @a(%n: index, %c: i1, %m: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.if %c {
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %v = arith.index_cast %i : index to i64
      memref.store %v, %m[%i] : memref<?xi64>
    }
  }
  scf.for %j = %c0 to %n step %c1 {
    scf.parallel (%i) = (%c0) to (%j) step (%c1) {
      %v = arith.index_cast %j : index to i64
      memref.store %v, %m[%i] : memref<?xi64>
    }
  }
  return
}
