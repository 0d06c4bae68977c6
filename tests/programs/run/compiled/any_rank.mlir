// Buffers of any rank are values like others: passed, returned, captured, awaited.

func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }
func.func @of_rank(%u: memref<*xf32>) -> index {
  %m = memref.cast %u : memref<*xf32> to memref<?x?xf32>
  %c1 = arith.constant 1 : index
  %d = memref.dim %m, %c1 : memref<?x?xf32>
  return %d : index
}
func.func @give() -> memref<*xf32> {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  return %u : memref<*xf32>
}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %u = call @give() : () -> memref<*xf32>
  %d = call @of_rank(%u) : (memref<*xf32>) -> index
  vector.print %d : index
  %r = memref.rank %u : memref<*xf32>
  vector.print %r : index
  %d0 = memref.dim %u, %c0 : memref<*xf32>
  vector.print %d0 : index
  scf.for %i = %c0 to %r step %c1 {
    %di = memref.dim %u, %i : memref<*xf32>
    vector.print %di : index
  }
  %t, %v = async.execute -> !async.value<memref<*xf32>> {
    %dd = memref.dim %u, %c1 : memref<*xf32>
    vector.print %dd : index
    async.yield %u : memref<*xf32>
  }
  %w = async.await %v : !async.value<memref<*xf32>>
  %m = memref.cast %w : memref<*xf32> to memref<3x5xf32>
  %x = arith.constant 7.0 : f32
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      memref.store %x, %m[%i, %j] : memref<3x5xf32>
    }
  }
  %s = memref.subview %m[1, 0] [2, 3] [1, 1] : memref<3x5xf32> to memref<2x3xf32, strided<[5, 1], offset: 5>>
  %us = memref.cast %s : memref<2x3xf32, strided<[5, 1], offset: 5>> to memref<*xf32>
  call @printMemrefF32(%us) : (memref<*xf32>) -> ()
  memref.dealloc %u : memref<*xf32>
  return
}
