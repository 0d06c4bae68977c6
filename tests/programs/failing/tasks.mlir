// What fails in a task or a function, and what waits for it.
// The error goes up through a plain function and two tasks.
func.func private @check(%x: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %ok = arith.cmpi ne, %x, %zero : i64
  cf.assert %ok, "nothing here"
  return %x : i64
}
func.func @main() {
  %zero = arith.constant 0 : i64
  %t, %v = async.execute -> !async.value<i64> {
    %y = func.call @check(%zero) : (i64) -> i64
    async.yield %y : i64
  }
  %u = async.execute (%v as %x: !async.value<i64>) {
    func.call @printI64(%x) : (i64) -> ()
    async.yield
  }
  async.await %u : !async.token
  return
}
func.func private @printI64(i64)
// -----
func.func @main() {
  %n = arith.constant 0 : i64
  %i = arith.constant -1 : index
  call @work(%n, %i) : (i64, index) -> ()
  return
}
func.func private @work(%n: i64, %i: index) {
  %one = arith.constant 1 : i64
  %m = memref.alloc() : memref<2xi64>
  %q = arith.divsi %one, %n : i64
  return
}
// -----
func.func @main() {
  %n = arith.constant 0 : i64
  %i = arith.constant -1 : index
  call @work(%n, %i) : (i64, index) -> ()
  return
}
func.func private @work(%n: i64, %i: index) {
  %one = arith.constant 1 : i64
  %m = memref.alloc() : memref<2xi64>
  %q = arith.remui %one, %n : i64
  return
}
// -----
func.func @main() {
  %n = arith.constant 0 : i64
  %i = arith.constant -1 : index
  call @work(%n, %i) : (i64, index) -> ()
  return
}
func.func private @work(%n: i64, %i: index) {
  %m = memref.alloc() : memref<2xi64>
  %q = memref.load %m[%i] : memref<2xi64>
  return
}
// -----
func.func @main() {
  %n = arith.constant 0 : i64
  %i = arith.constant -1 : index
  call @work(%n, %i) : (i64, index) -> ()
  return
}
func.func private @work(%n: i64, %i: index) {
  %one = arith.constant 1 : i64
  %m = memref.alloc() : memref<2xi64>
  memref.store %one, %m[%i] : memref<2xi64>
  return
}
// -----
// Deeper than the stack.
func.func @main() {
  %n = arith.constant 10000000 : i64
  %m = call @down(%n) : (i64) -> i64
  return
}
func.func private @down(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_zero = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %is_zero, ^end, ^deeper
^deeper:
  %m = arith.subi %n, %one : i64
  %r = call @down(%m) : (i64) -> i64
  call @printI64(%r) : (i64) -> ()
  return %r : i64
^end:
  return %zero : i64
}
func.func private @printI64(i64)
// -----
// What passes tell each other a program does not tell them.
func.func @main() {
  %far = arith.constant 900000000000 : index
  %m = memref.alloca() : memref<4xi64>
  %x = memref.load %m[%far] {in_bounds} : memref<4xi64>
  return
}
