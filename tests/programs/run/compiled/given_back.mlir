// Buffers that are given back once, each by its round, in two tasks at the same time.
func.func @main() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 5000 : index
  %zero = arith.constant 0 : i64
  %t, %v = async.execute -> !async.value<i64> {
    %r = func.call @sum(%c0, %many) : (index, index) -> i64
    async.yield %r : i64
  }
  %a = func.call @sum(%c0, %many) : (index, index) -> i64
  %b = async.await %v : !async.value<i64>
  %r = arith.addi %a, %b : i64
  return %r : i64
}
func.func private @sum(%lower: index, %upper: index) -> i64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %r = scf.for %i = %lower to %upper step %c1 iter_args(%s = %zero) -> i64 {
    %m = memref.alloc(%c1) : memref<?xi64>
    %p = memref.alloc() : memref<300xi64>
    %n = arith.index_cast %i : index to i64
    memref.store %n, %p[%c1] : memref<300xi64>
    %x = memref.load %p[%c1] : memref<300xi64>
    memref.dealloc %p : memref<300xi64>
    memref.dealloc %m : memref<?xi64>
    %y = arith.addi %s, %x : i64
    scf.yield %y : i64
  }
  return %r : i64
}
