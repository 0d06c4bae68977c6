func.func @main() {
  %i = arith.constant 1 : index
  %m = memref.alloc() : memref<2xf32>
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
  %m = memref.alloc() : memref<2xf32>
  %o = memref.generic_atomic_rmw %m[%i] : memref<2xf32> {
  ^bb0(%c: f32):
    memref.atomic_yield %x : i32
  }
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<2xf32>
  %o = memref.generic_atomic_rmw %m[] : memref<2xf32> {
  ^bb0(%c: f32):
    memref.atomic_yield %c : f32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %m = memref.alloc() : memref<2xf32>
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
  %f = arith.constant 2.0 : f32
  %m = memref.alloc() : memref<2xf32>
  %o = memref.generic_atomic_rmw %m[%i] : memref<2xf32> {
    memref.atomic_yield %f : f32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %d = memref.alloc(%i) : memref<?xf32>
  %o = memref.generic_atomic_rmw %d[%i] : memref<?xf32> {
  ^bb0(%c: f32):
    memref.atomic_yield %c : f32
  }
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
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
  %k = memref.alloc() : memref<2xi32>
  %o = memref.atomic_rmw addf %x, %k[%i] : (i32, memref<2xi32>) -> i32
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %f = arith.constant 2.0 : f32
  %m = memref.alloc() : memref<2xf32>
  %o = memref.atomic_rmw addi %f, %m[%i] : (f32, memref<2xf32>) -> f32
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %m = memref.alloc() : memref<2xf32>
  %o = memref.atomic_rmw addi %x, %m[%i] : (i32, memref<2xf32>) -> i32
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %b = arith.constant true
  %t = memref.alloc() : memref<2xi1>
  %o = memref.atomic_rmw andi %b, %t[%i] : (i1, memref<2xi1>) -> i1
  return
}
// -----
func.func @main() {
  %x = arith.constant 1 : i32
  %k = memref.alloc() : memref<2xi32>
  %o = memref.atomic_rmw addi %x, %k[] : (i32, memref<2xi32>) -> i32
  return
}
// -----
func.func @main() {
  %i = arith.constant 1 : index
  %x = arith.constant 1 : i32
  %k = memref.alloc() : memref<2xi32>
  %o = memref.atomic_rmw divi %x, %k[%i] : (i32, memref<2xi32>) -> i32
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
