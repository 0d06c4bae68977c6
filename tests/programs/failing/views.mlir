// Types of views that their sizes and strides do not make, and sizes that overflow.
// A part of other elements.
func.func @main() {
  %z = arith.constant 0 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi8>
  %k = memref.subview %m[0] [8] [1] : memref<?xi8> to memref<8xi64, strided<[1]>>
  memref.store %v, %k[%z] : memref<8xi64, strided<[1]>>
  return
}
// -----
// A part that does not follow each other, by its type.
func.func @main() {
  %z = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %k = memref.subview %m[2] [3] [2] : memref<8xi64> to memref<3xi64>
  memref.store %v, %k[%z] : memref<3xi64>
  return
}
// -----
// Other sizes.
func.func @main() {
  %z = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %k = memref.subview %m[2] [3] [2] : memref<8xi64> to memref<4xi64, strided<[2], offset: 2>>
  memref.store %v, %k[%z] : memref<4xi64, strided<[2], offset: 2>>
  return
}
// -----
// More numbers than dimensions.
func.func @main() {
  %z = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %k = memref.subview %m[2, 2] [3, 2] [1, 1] : memref<8xi64> to memref<3x2xi64, strided<[1, 1]>>
  memref.store %v, %k[%z, %z] : memref<3x2xi64, strided<[1, 1]>>
  return
}
// -----
// A base with dimensions.
func.func @main() {
  %z = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %b, %o, %size, %stride = memref.extract_strided_metadata %m : memref<8xi64> -> memref<8xi64>, index, index, index
  memref.store %v, %b[%z] : memref<8xi64>
  return
}
// -----
// 7 * (2^61 + 2^20) is a negative number in 64 bits.
func.func @main() {
  %n = arith.constant 8 : index
  %one = arith.constant 1 : index
  %step = arith.constant 2305843009214742528 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %k = memref.subview %m[0] [8] [%step] : memref<?xi64> to memref<8xi64, strided<[?]>>
  memref.store %v, %k[%one] : memref<8xi64, strided<[?]>>
  return
}
