// pipeline: builtin.module(async-parallel-for{num-workers=4 min-task-size=8})
func.func @a(%m: memref<?x?xf32>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 2.5 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%k) step (%c1) {
      memref.store %f, %m[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
