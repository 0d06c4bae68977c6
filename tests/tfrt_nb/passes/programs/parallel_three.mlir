// pipeline: builtin.module(async-parallel-for{num-workers=4 min-task-size=1})
func.func @a(%n: index, %m: memref<?x?x?xi64>) {
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j, %k) = (%c0, %c2, %c0) to (%n, %n, %n) step (%c1, %c2, %c1) {
    %v = arith.index_cast %k : index to i64
    memref.store %v, %m[%i, %j, %k] : memref<?x?x?xi64>
  }
  return
}
