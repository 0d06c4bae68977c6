// What verifies and cannot be compiled, or would end the process.
func.func @main() {
  return
}
func.func @f(%x: !async.value<tensor<4xf32>>) {
  %y = async.await %x : !async.value<tensor<4xf32>>
  return
}
// -----
func.func @main() {
  return
}
func.func @f(%x: !async.value<none>) {
  %y = async.await %x : !async.value<none>
  return
}
// -----
func.func @main() {
  return
}
func.func @f(%x: !async.value<tuple<i32, i64>>) {
  %y = async.await %x : !async.value<tuple<i32, i64>>
  return
}
// -----
func.func @main() {
  return
}
func.func @f(%x: !async.value<vector<[4]xf32>>) {
  %y = async.await %x : !async.value<vector<[4]xf32>>
  return
}
// -----
func.func @main() {
  return
}
func.func @f(%x: !async.value<f80>) {
  %y = async.await %x : !async.value<f80>
  return
}
// -----
func.func @main() {
  return
}
func.func private @f(%x: !async.value<!async.token>) {
  return
}
// -----
func.func @main() {
  return
}
func.func private @f(%x: !async.value<!async.value<i64>>) {
  return
}
// -----
func.func @main() {
  return
}
func.func private @f(%x: !async.value<!async.group>) {
  return
}
// -----
func.func @f(%x: i0) -> i0 {
  return %x : i0
}
func.func @main() {
  return
}
// -----
func.func @f(%x: i4097) -> i4097 {
  return %x : i4097
}
func.func @main() {
  return
}
// -----
func.func @f(%x: vector<4xf32>) -> vector<4xf32> {
  return %x : vector<4xf32>
}
func.func @main() {
  return
}
// -----
func.func @f(%x: memref<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xi64>) -> memref<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xi64> {
  return %x : memref<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xi64>
}
func.func @main() {
  return
}
// -----
// A buffer on the stack in a task.
func.func @main() {
  %m = memref.alloca() : memref<4xi64>
  %t = async.execute {
    %c0 = arith.constant 0 : index
    %x = memref.load %m[%c0] : memref<4xi64>
    async.yield
  }
  return
}
// -----
// Half a coroutine.
func.func @main() {
  %id = async.coro.id
  %h = async.coro.begin %id
  async.runtime.resume %h
  return
}
// -----
// An id for a block.
func.func @main() {
  %id = async.coro.id
  cf.br ^a(%id : !async.coro.id)
^a(%x: !async.coro.id):
  return
}
// -----
// A constant that is a buffer.
func.func @main() {
  %m = arith.constant dense<1> : memref<4xi64>
  return
}
// -----
// A buffer larger than the memory.
func.func @main() {
  %m = memref.alloc() : memref<1000000000000000xi64>
  return
}
// -----
// A negative size.
func.func @main() {
  %n = arith.constant -1 : index
  %m = memref.alloc(%n) : memref<?xi64>
  return
}
// -----
// A size that overflows.
func.func @main() {
  %n = arith.constant 2305843009213693953 : index
  %m = memref.alloc(%n) : memref<?xi64>
  return
}
// -----
// A loop that stands still.
func.func @main() {
  %n = arith.constant 0 : index
  %m = arith.constant 9 : index
  scf.for %i = %n to %m step %n {
  }
  return
}
// -----
// A parallel loop that stands still.
func.func @main() {
  %n = arith.constant 0 : index
  %m = arith.constant 9 : index
  scf.parallel (%i) = (%n) to (%m) step (%n) {
  }
  return
}
// -----
func.func @main() {
  return
}
func.func private @printI64(f64)
// -----
// A predicate that there is not.
func.func @main() {
  %x = arith.constant 1 : i64
  %c = "arith.cmpi"(%x, %x) {predicate = 10 : i64} : (i64, i64) -> i1
  return
}
// -----
func.func @main() {
  %x = arith.constant 1.0 : f64
  %c = "arith.cmpf"(%x, %x) {predicate = -1 : i64} : (f64, f64) -> i1
  return
}
// -----
// A loop over nothing.
func.func @main() {
  "scf.parallel"() ({
    "scf.reduce"() : () -> ()
  }) {operandSegmentSizes = array<i32: 0, 0, 0, 0>} : () -> ()
  return
}
