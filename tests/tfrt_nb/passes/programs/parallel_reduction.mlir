// pipeline: builtin.module(async-parallel-for{num-workers=1 min-task-size=100 clamp-trip-counts join-on-failure reductions async-dispatch=false})
// Each block reduces for itself; the parts are reduced in the order of the blocks.
func.func @main(%m: memref<?xf64>, %n: index, %x: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%x) -> f64 {
    %y = memref.load %m[%i] : memref<?xf64>
    scf.reduce(%y : f64) {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      scf.reduce.return %s : f64
    }
  }
  return %r : f64
}
