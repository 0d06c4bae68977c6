// pipeline: builtin.module(async-parallel-for{async-dispatch=false num-workers=-1 clamp-trip-counts=true})
// Reversed bounds count as no iterations; the number of workers is asked at run time; a reduction is left alone.
func.func @clear(%n: index, %m: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : i64
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %c7, %m[%i] : memref<?xi64>
  }
  %z = arith.constant 0.0 : f32
  %s = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {
    scf.reduce(%z : f32) {
    ^bb0(%l: f32, %r: f32):
      scf.reduce.return %l : f32
    }
  }
  return
}
