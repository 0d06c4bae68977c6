// pipeline: builtin.module(async-parallel-for{num-workers=-1 min-task-size=100})
func.func @a(%n: index, %k: index, %m: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %k) step (%c1, %c1) {
    %x = memref.load %m[%i, %j] : memref<?x?xf32>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %m[%i, %j] : memref<?x?xf32>
  }
  return
}
