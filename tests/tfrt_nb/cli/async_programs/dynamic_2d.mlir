// parallel-for: num-workers=2 min-task-size=1
func.func @fill(%m: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = memref.dim %m, %c0 : memref<?x?xf32>
  %w = memref.dim %m, %c1 : memref<?x?xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%h, %w) step (%c1, %c1) {
    %a = arith.muli %i, %w : index
    %b = arith.addi %a, %j : index
    %b1 = arith.addi %b, %c1 : index
    %x = arith.index_cast %b1 : index to i32
    %y = arith.sitofp %x : i32 to f32
    memref.store %y, %m[%i, %j] : memref<?x?xf32>
    scf.reduce
  }
  return
}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2x3xf32>
  %d = memref.cast %m : memref<2x3xf32> to memref<?x?xf32>
  call @fill(%d) : (memref<?x?xf32>) -> ()
  %z = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %z) -> (f32) {
    %r = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> (f32) {
      %x = memref.load %d[%i, %j] : memref<?x?xf32>
      %y = arith.addf %b, %x : f32
      scf.yield %y : f32
    }
    scf.yield %r : f32
  }
  %e = arith.extf %s : f32 to f64
  call @printF64(%e) : (f64) -> ()
  memref.dealloc %m : memref<2x3xf32>
  return
}
func.func private @printF64(f64)
