func.func private @system(i64) -> i32
func.func @main() -> i32 {
  %m = memref.alloc() : memref<8xi64>
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %t = arith.constant 2 : index
  %a = arith.constant 3399690401428631412 : i64
  %b = arith.constant 474450192499 : i64
  memref.store %a, %m[%z] : memref<8xi64>
  memref.store %b, %m[%o] : memref<8xi64>
  %n = arith.constant 0 : i64
  memref.store %n, %m[%t] : memref<8xi64>
  %i = memref.extract_aligned_pointer_as_index %m : memref<8xi64> -> index
  %p = arith.index_cast %i : index to i64
  %r = call @system(%p) : (i64) -> i32
  memref.dealloc %m : memref<8xi64>
  return %r : i32
}
