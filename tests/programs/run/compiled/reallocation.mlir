// Buffers that get another size or shape, and buffers of a scope.

func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }
func.func private @printMemrefI32(memref<*xi32>) attributes { llvm.emit_c_interface }

func.func @realloc() {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  memref.store %p, %m[%c0] : memref<2xi32>
  %a = memref.realloc %m : memref<2xi32> to memref<4xi32>
  %x = memref.load %a[%c1] : memref<4xi32>
  vector.print %x : i32
  %b = memref.realloc %a(%c6) : memref<4xi32> to memref<?xi32>
  %y = memref.load %b[%c1] : memref<?xi32>
  vector.print %y : i32
  %d = memref.dim %b, %c0 : memref<?xi32>
  vector.print %d : index
  %c = memref.realloc %b(%c1) {alignment = 8} : memref<?xi32> to memref<?xi32>
  %u = memref.cast %c : memref<?xi32> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  memref.dealloc %c : memref<?xi32>
  return
}

func.func @reshape() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c12 = arith.constant 12 : index
  %m = memref.alloc() : memref<12xf32>
  scf.for %i = %c0 to %c12 step %c1 {
    %a = arith.index_cast %i : index to i32
    %b = arith.sitofp %a : i32 to f32
    memref.store %b, %m[%i] : memref<12xf32>
  }
  %s = memref.alloc() : memref<2xindex>
  memref.store %c3, %s[%c0] : memref<2xindex>
  %c4 = arith.constant 4 : index
  memref.store %c4, %s[%c1] : memref<2xindex>
  %r = memref.reshape %m(%s) : (memref<12xf32>, memref<2xindex>) -> memref<?x?xf32>
  %u = memref.cast %r : memref<?x?xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  %s3 = memref.alloc() : memref<3xi32>
  %i2 = arith.constant 2 : i32
  %i3 = arith.constant 3 : i32
  memref.store %i3, %s3[%c0] : memref<3xi32>
  memref.store %i2, %s3[%c1] : memref<3xi32>
  memref.store %i2, %s3[%c2] : memref<3xi32>
  %r3 = memref.reshape %m(%s3) : (memref<12xf32>, memref<3xi32>) -> memref<3x?x2xf32>
  %u3 = memref.cast %r3 : memref<3x?x2xf32> to memref<*xf32>
  call @printMemrefF32(%u3) : (memref<*xf32>) -> ()
  %sn = memref.cast %s : memref<2xindex> to memref<?xindex>
  %sk = memref.cast %sn : memref<?xindex> to memref<2xindex>
  %ru = memref.reshape %m(%sk) : (memref<12xf32>, memref<2xindex>) -> memref<*xf32>
  call @printMemrefF32(%ru) : (memref<*xf32>) -> ()
  memref.dealloc %m : memref<12xf32>
  memref.dealloc %s : memref<2xindex>
  memref.dealloc %s3 : memref<3xi32>
  return
}

func.func @scope() {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    memref.alloca_scope {
      %m = memref.alloca(%c6) : memref<?xindex>
      memref.store %i, %m[%c1] : memref<?xindex>
      %x = memref.load %m[%c1] : memref<?xindex>
      vector.print %x : index
      memref.alloca_scope.return
    }
    %r = memref.alloca_scope -> (index) {
      %m = memref.alloca() : memref<3xindex>
      memref.store %i, %m[%c1] : memref<3xindex>
      %x = memref.load %m[%c1] : memref<3xindex>
      memref.alloca_scope.return %x : index
    }
    vector.print %r : index
  }
  return
}

func.func @main() {
  call @realloc() : () -> ()
  call @reshape() : () -> ()
  call @scope() : () -> ()
  return
}
