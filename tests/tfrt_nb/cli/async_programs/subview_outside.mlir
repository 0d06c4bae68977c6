// A view that ends behind its buffer is an error at its line.
func.func private @printI64(i64)
func.func private @rows() -> index {
  %n = arith.constant 3 : index
  return %n : index
}
func.func @main() {
  %one = arith.constant 1 : i64
  %n = call @rows() : () -> index
  %m = memref.alloc() : memref<4x5xf32>
  call @printI64(%one) : (i64) -> ()
  %v = memref.subview %m[2, 0] [%n, 5] [1, 1] : memref<4x5xf32> to memref<?x5xf32, strided<[5, 1], offset: 10>>
  call @printI64(%one) : (i64) -> ()
  return
}
