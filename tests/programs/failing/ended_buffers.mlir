// Through views.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %a = memref.subview %m[2] [4] [1] : memref<?xi64> to memref<4xi64, strided<[1], offset: 2>>
  %b = memref.subview %a[1] [2] [1] : memref<4xi64, strided<[1], offset: 2>> to memref<2xi64, strided<[1], offset: 3>>
  func.call @free(%m) : (memref<?xi64>) -> ()
  %x = memref.load %b[%z] : memref<2xi64, strided<[1], offset: 3>>
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Cf loop.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  cf.br ^b(%z : index)
^b(%i: index):
  memref.store %v, %m[%i] : memref<?xi64>
  %j = arith.addi %i, %s : index
  %two = arith.constant 2 : index
  %c = arith.cmpi eq, %i, %two : index
  cf.cond_br %c, ^free, ^more
^free:
  memref.dealloc %m : memref<?xi64>
  cf.br ^more
^more:
  %d = arith.cmpi slt, %j, %n : index
  cf.cond_br %d, ^b(%j : index), ^e
^e:
  return %v : i64
}
// -----
// Loop second round.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %three = arith.constant 3 : index
  scf.for %i = %z to %n step %s {
    memref.store %v, %m[%i] : memref<?xi64>
    %c = arith.cmpi eq, %i, %three : index
    scf.if %c {
      func.call @free(%m) : (memref<?xi64>) -> ()
    }
  }
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Task later.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %g = async.create_group %s : !async.group
  %a = async.execute {
    func.call @free(%m) : (memref<?xi64>) -> ()
    async.yield
  }
  %b = async.execute [%a] {
    memref.store %v, %m[%z] : memref<?xi64>
    async.yield
  }
  %r = async.add_to_group %b, %g : !async.token
  async.await_all %g
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Alloca through value.
async.func @f() -> !async.value<memref<4xi64>> {
  %m = memref.alloca() : memref<4xi64>
  return %m : memref<4xi64>
}
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %a = async.call @f() : () -> !async.value<memref<4xi64>>
  %m = async.await %a : !async.value<memref<4xi64>>
  %x = memref.load %m[%z] : memref<4xi64>
  return %x : i64
}
// -----
// Recursion alloca.
func.func private @down(%n: i64, %m: memref<4xi64>) -> memref<4xi64> {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.cmpi sgt, %n, %z : i64
  %r = scf.if %c -> memref<4xi64> {
    %a = memref.alloca() : memref<4xi64>
    %k = arith.subi %n, %one : i64
    %x = func.call @down(%k, %a) : (i64, memref<4xi64>) -> memref<4xi64>
    scf.yield %x : memref<4xi64>
  } else {
    scf.yield %m : memref<4xi64>
  }
  return %r : memref<4xi64>
}
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %a = memref.alloca() : memref<4xi64>
  %three = arith.constant 3 : i64
  %m = func.call @down(%three, %a) : (i64, memref<4xi64>) -> memref<4xi64>
  %x = memref.load %m[%z] : memref<4xi64>
  return %x : i64
}
// -----
// Print dead.
func.func @main() -> i64 {
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %u = memref.cast %m : memref<?xi64> to memref<*xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  func.call @printMemrefI64(%u) : (memref<*xi64>) -> ()
  return %v : i64
}
func.func private @printMemrefI64(memref<*xi64>)
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Copy.
func.func @main() -> i64 {
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %k = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  memref.copy %k, %m : memref<?xi64> to memref<?xi64>
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Atomic.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  %x = memref.atomic_rmw addi %v, %m[%z] : (i64, memref<?xi64>) -> i64
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Generic atomic.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  %x = memref.generic_atomic_rmw %m[%z] : memref<?xi64> {
  ^bb0(%o: i64):
    %w = arith.muli %o, %v : i64
    memref.atomic_yield %w : i64
  }
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Parallel.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  scf.parallel (%i) = (%z) to (%n) step (%s) {
    memref.store %v, %m[%i] : memref<?xi64>
    scf.reduce
  }
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// While.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  memref.store %v, %m[%z] : memref<?xi64>
  %r = scf.while (%i = %z) : (index) -> index {
    %x = memref.load %m[%z] : memref<?xi64>
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i : index
  } do {
  ^bb0(%i: index):
    %j = arith.addi %i, %s : index
    func.call @free(%m) : (memref<?xi64>) -> ()
    scf.yield %j : index
  }
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Select.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %k = memref.alloc(%n) : memref<?xi64>
  %c = arith.cmpi slt, %z, %n : index
  %q = arith.select %c, %m, %k : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  %x = memref.load %q[%z] : memref<?xi64>
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Constant through call.
memref.global "private" constant @g : memref<4xi64> = dense<1>
func.func private @st(%m: memref<4xi64>, %v: i64) {
  %z = arith.constant 0 : index
  memref.store %v, %m[%z] : memref<4xi64>
  return
}
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %g = memref.get_global @g : memref<4xi64>
  func.call @st(%g, %v) : (memref<4xi64>, i64) -> ()
  %x = memref.load %g[%z] : memref<4xi64>
  return %x : i64
}
// -----
// Alloca dealloc in callee.
func.func @main() -> i64 {
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloca(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  return %v : i64
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Dead result.
func.func @main() -> memref<?xi64> {
  %n = arith.constant 8 : index
  %m = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  return %m : memref<?xi64>
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
// Alloca result.
func.func @main() -> memref<4xi64> {
  %m = memref.alloca() : memref<4xi64>
  return %m : memref<4xi64>
}
// -----
// Buffers of buffers.
func.func @main() -> i64 {
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<4xmemref<4xi64>>
  return %v : i64
}
// -----
// A global of buffers.
func.func @main() -> i64 {
  %v = arith.constant 7 : i64
  return %v : i64
}
memref.global "private" @g : memref<2xmemref<4xi64>>
// -----
// A constant.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %g = memref.get_global @g : memref<4xi64>
  %c = memref.cast %g : memref<4xi64> to memref<?xi64>
  memref.store %v, %c[%z] : memref<?xi64>
  return %v : i64
}
memref.global "private" constant @g : memref<4xi64> = dense<1>
// -----
// An async object from nothing.
func.func @main() -> i64 {
  %v = arith.constant 7 : i64
  %t = ub.poison : !async.token
  async.await %t : !async.token
  return %v : i64
}
// -----
// A buffer that never was.
func.func @main() -> i64 {
  %z = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %m = ub.poison : memref<4xi64>
  %x = memref.load %m[%z] : memref<4xi64>
  return %v : i64
}
// -----
// A loop fails at the access, and behind what it prints before.
func.func @main() -> index {
  %n = arith.constant 2 : index
  %k = arith.constant 5 : index
  %r = call @loops(%n, %k) : (index, index) -> index
  return %r : index
}
func.func private @loops(%n: index, %k: index) -> index {
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
// -----
func.func @main() -> index {
  %n = arith.constant 2 : index
  %k = arith.constant 101 : index
  %r = call @loops(%n, %k) : (index, index) -> index
  return %r : index
}
func.func private @loops(%n: index, %k: index) -> index {
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
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
// -----
func.func @main() -> index {
  %n = arith.constant 2 : index
  %k = arith.constant 101 : index
  %r = call @loops(%n, %k) : (index, index) -> index
  return %r : index
}
func.func private @loops(%n: index, %k: index) -> index {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %h = arith.constant 100 : index
  %v = arith.constant 1 : i64
  %m = memref.alloc(%h) : memref<?xi64>
  scf.for %i = %z to %n step %s {
    scf.for %j = %z to %k step %s {
      memref.store %v, %m[%j] : memref<?xi64>
      func.call @printI64(%v) : (i64) -> ()
    }
  }
  return %n : index
}
func.func private @printI64(i64)
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
