// Buffers that are used before their end, and loops without rounds, which use nothing.
// A buffer of each round goes on to the next.
func.func private @rounds() -> i64 {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m0 = memref.alloca() : memref<4xi64>
  memref.store %v, %m0[%z] : memref<4xi64>
  %m = scf.for %i = %z to %n step %s iter_args(%p = %m0) -> memref<4xi64> {
    %q = memref.alloca() : memref<4xi64>
    %x = memref.load %p[%z] : memref<4xi64>
    %w = arith.addi %x, %v : i64
    memref.store %w, %q[%z] : memref<4xi64>
    scf.yield %q : memref<4xi64>
  }
  %r = memref.load %m[%z] : memref<4xi64>
  return %r : i64
}
// An index that is nothing is some index.
func.func private @indexed() -> i64 {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%s) : memref<?xi64>
  %i = ub.poison : index
  memref.store %v, %m[%i] : memref<?xi64>
  %r = memref.load %m[%z] : memref<?xi64>
  return %r : i64
}
func.func private @live(%n: index, %k: index) -> index {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %h = arith.constant 100 : index
  %v = arith.constant 1 : i64
  %m = memref.alloc(%h) : memref<?xi64>
  scf.for %i = %z to %n step %s {
    scf.for %j = %z to %k step %s {
      memref.store %v, %m[%j] : memref<?xi64>
    }
  }
  return %n : index
}
func.func private @dead(%n: index, %k: index) -> index {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %h = arith.constant 100 : index
  %v = arith.constant 1 : i64
  %m = memref.alloc(%h) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  scf.for %i = %z to %n step %s {
    scf.for %j = %z to %k step %s {
      memref.store %v, %m[%j] : memref<?xi64>
    }
  }
  return %n : index
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
func.func @main() -> (i64, i64, index, index, index, index, index, index) {
  %zero = arith.constant 0 : index
  %five = arith.constant 5 : index
  %many = arith.constant 1000 : index
  %a = call @rounds() : () -> i64
  %b = call @indexed() : () -> i64
  %live0 = call @live(%zero, %five) : (index, index) -> index
  %live1 = call @live(%five, %zero) : (index, index) -> index
  %live2 = call @live(%zero, %many) : (index, index) -> index
  %dead0 = call @dead(%zero, %five) : (index, index) -> index
  %dead1 = call @dead(%five, %zero) : (index, index) -> index
  %dead2 = call @dead(%zero, %many) : (index, index) -> index
  return %a, %b, %live0, %live1, %live2, %dead0, %dead1, %dead2 : i64, i64, index, index, index, index, index, index
}
