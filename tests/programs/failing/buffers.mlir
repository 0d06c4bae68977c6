func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.generic_atomic_rmw %m[%i] : memref<2xf32> {
  ^bb0(%c: i32):
    memref.atomic_yield %c : i32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.generic_atomic_rmw %m[%i] : memref<2xf32> {
  ^bb0(%c: f32):
    memref.atomic_yield %x : i32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.generic_atomic_rmw %m[] : memref<2xf32> {
  ^bb0(%c: f32):
    memref.atomic_yield %c : f32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.generic_atomic_rmw %m[%i] : memref<2xf32> {
  ^bb0(%c: f32):
    memref.store %c, %m[%i] : memref<2xf32>
    memref.atomic_yield %c : f32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.generic_atomic_rmw %m[%i] : memref<2xf32> {
    memref.atomic_yield %f : f32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.generic_atomic_rmw %d[%i] : memref<?xf32> {
  ^bb0(%c: f32):
    memref.atomic_yield %c : f32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.generic_atomic_rmw %t[%i] : memref<2xi1> {
  ^bb0(%c: i1):
    memref.atomic_yield %c : i1
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.atomic_rmw addf %x, %k[%i] : (i32, memref<2xi32>) -> i32
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.atomic_rmw addi %f, %m[%i] : (f32, memref<2xf32>) -> f32
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.atomic_rmw addi %x, %m[%i] : (i32, memref<2xf32>) -> i32
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.atomic_rmw andi %b, %t[%i] : (i1, memref<2xi1>) -> i1
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.atomic_rmw addi %x, %k[] : (i32, memref<2xi32>) -> i32
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %o = memref.atomic_rmw divi %x, %k[%i] : (i32, memref<2xi32>) -> i32
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.realloc %m : memref<2xf32> to memref<?xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.realloc %m(%i) : memref<2xf32> to memref<4xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.realloc %m : memref<2xf32> to memref<4xi32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.realloc %m : memref<2xf32> to memref<4x4xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.realloc %m : memref<2xf32> to memref<4xf32>
  memref.store %f, %m[%i] : memref<2xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %n = arith.constant -1 : index
  %r = memref.realloc %d(%n) : memref<?xf32> to memref<?xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %v = memref.alloca() : memref<2xf32>
  %r = memref.realloc %v : memref<2xf32> to memref<4xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %v = memref.subview %m[1] [1] [1] : memref<2xf32> to memref<1xf32, strided<[1], offset: 1>>
  %r = memref.realloc %v : memref<1xf32, strided<[1], offset: 1>> to memref<4xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.reshape %m(%k) : (memref<2xf32>, memref<2xi32>) -> memref<?xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.reshape %m(%k) : (memref<2xf32>, memref<2xi32>) -> memref<?x?xi32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.reshape %m(%m) : (memref<2xf32>, memref<2xf32>) -> memref<?x?xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  linalg.fill ins(%x : i32) outs(%k : memref<2xi32>)
  %r = memref.reshape %m(%k) : (memref<2xf32>, memref<2xi32>) -> memref<?x?xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %big = arith.constant 2147483647 : i32
  linalg.fill ins(%big : i32) outs(%k : memref<2xi32>)
  %r = memref.reshape %m(%k) : (memref<2xf32>, memref<2xi32>) -> memref<?x?xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  linalg.fill ins(%x : i32) outs(%k : memref<2xi32>)
  %r = memref.reshape %m(%k) : (memref<2xf32>, memref<2xi32>) -> memref<?x2xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %s = memref.cast %k : memref<2xi32> to memref<?xi32>
  %r = memref.reshape %m(%s) : (memref<2xf32>, memref<?xi32>) -> memref<?x2xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %s = memref.cast %k : memref<2xi32> to memref<?xi32>
  %r = memref.reshape %m(%s) : (memref<2xf32>, memref<?xi32>) -> memref<*xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %u = memref.cast %m : memref<2xf32> to memref<*xf32>
  %r = memref.reshape %u(%k) : (memref<*xf32>, memref<2xi32>) -> memref<?x?xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %v = memref.subview %m[1] [1] [1] : memref<2xf32> to memref<1xf32, strided<[1], offset: 1>>
  %r = memref.reshape %v(%k) : (memref<1xf32, strided<[1], offset: 1>>, memref<2xi32>) -> memref<?x?xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.reshape %m(%k) : (memref<2xf32>, memref<2xi32>) -> memref<?x?xf32, strided<[2, 1]>>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.alloca_scope -> (f32) {
    memref.alloca_scope.return
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %r = memref.alloca_scope -> (f32) {
    memref.alloca_scope.return %x : i32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %far = arith.constant 4611686018427387905 : index
  %many = arith.constant 5 : index
  %v = memref.subview %d[0] [1] [%far] : memref<?xf32> to memref<1xf32, strided<[?]>>
  %w = memref.reinterpret_cast %m to offset: [0], sizes: [%many], strides: [%far] : memref<2xf32> to memref<?xf32, strided<[?]>>
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %f = arith.constant 2.0 : f32
  %b = arith.constant true
  %m = memref.alloc() : memref<2xf32>
  %k = memref.alloc() : memref<2xi32>
  %d = memref.alloc(%i) : memref<?xf32>
  %t = memref.alloc() : memref<2xi1>
  %far = arith.constant 9223372036854775807 : index
  %w = memref.reinterpret_cast %m to offset: [%far], sizes: [2], strides: [1] : memref<2xf32> to memref<2xf32, strided<[1], offset: ?>>
  return
}
// -----
func.func @main() {
  "memref.alloca_scope"() ({}) : () -> ()
  return
}
// -----
func.func @main() {
  %m = memref.alloc() {alignment = 4611686018427387904 : i64} : memref<4xi32>
  return
}
// -----
func.func @main() {
  %v = async.runtime.create : !async.value<memref<4xi64>>
  async.runtime.set_available %v : !async.value<memref<4xi64>>
  %m = async.await %v : !async.value<memref<4xi64>>
  return
}
// -----
func.func @made() -> !async.value<memref<*xi64>> {
  %v = async.runtime.create : !async.value<memref<*xi64>>
  async.runtime.set_available %v : !async.value<memref<*xi64>>
  return %v : !async.value<memref<*xi64>>
}
func.func @main() {
  %v = call @made() : () -> !async.value<memref<*xi64>>
  %m = async.runtime.load %v : !async.value<memref<*xi64>>
  return
}
// -----
memref.global "private" @cells : memref<400000000000xi64> = uninitialized
func.func @main() {
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<4xi64>
  %f = arith.bitcast %m : memref<4xi64> to memref<4xf64>
  return
}
