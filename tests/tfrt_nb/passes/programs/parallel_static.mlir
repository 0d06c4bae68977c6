// pipeline: builtin.module(async-parallel-for{num-workers=4 min-task-size=10})
// Known bounds: trip counts are folded.
func.func @main(%m: memref<20x30xf32>, %x: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 20 : index
  %columns = arith.constant 30 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %two) {
    %y = memref.load %m[%i, %j] : memref<20x30xf32>
    %z = arith.mulf %x, %y : f32
    memref.store %z, %m[%i, %j] : memref<20x30xf32>
  }
  return
}
