// Types of views that their sizes and strides do not make, and sizes that overflow.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x4xi64>
  %k = memref.collapse_shape %m [[0, 1]] : memref<2x4xi64> into memref<100000000xi64>
  memref.store %v, %k[%far] : memref<100000000xi64>
  return
}
// -----
// A group is left out.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x4x3xi64>
  %k = memref.collapse_shape %m [[0, 1]] : memref<2x4x3xi64> into memref<8xi64>
  memref.store %v, %k[%z] : memref<8xi64>
  return
}
// -----
// A group too few.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x4x3xi64>
  %k = memref.collapse_shape %m [[0, 1, 2]] : memref<2x4x3xi64> into memref<8x3xi64>
  memref.store %v, %k[%z, %z] : memref<8x3xi64>
  return
}
// -----
// Other elements.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x4xi8>
  %k = memref.collapse_shape %m [[0, 1]] : memref<2x4xi8> into memref<8xi64>
  memref.store %v, %k[%z] : memref<8xi64>
  return
}
// -----
// Rows that do not follow each other.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x4xi64>
  %p = memref.subview %m[0, 0] [2, 3] [1, 1] : memref<2x4xi64> to memref<2x3xi64, strided<[4, 1]>>
  %k = memref.collapse_shape %p [[0, 1]] : memref<2x3xi64, strided<[4, 1]>> into memref<6xi64, strided<[1]>>
  memref.store %v, %k[%z] : memref<6xi64, strided<[1]>>
  return
}
// -----
// The same, known when it runs.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %zero = func.call @zero() : () -> index
  %p = memref.reinterpret_cast %m to offset: [0], sizes: [%far, 8], strides: [%zero, 1] : memref<?xi64> to memref<?x8xi64, strided<[?, 1]>>
  %k = memref.collapse_shape %p [[0, 1]] : memref<?x8xi64, strided<[?, 1]>> into memref<?xi64, strided<[1]>>
  memref.store %v, %k[%far] : memref<?xi64, strided<[1]>>
  return
}
func.func private @zero() -> index {
  %z = arith.constant 0 : index
  return %z : index
}
// -----
// Expanded to another type.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %k = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<8xi64> into memref<2x100000000xi64>
  memref.store %v, %k[%z, %far] : memref<2x100000000xi64>
  return
}
// -----
// To more elements.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %k = memref.expand_shape %m [[0, 1]] output_shape [2, 40000] : memref<8xi64> into memref<2x40000xi64>
  memref.store %v, %k[%z, %z] : memref<2x40000xi64>
  return
}
// -----
// Sizes for fewer dimensions.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %k = memref.expand_shape %m [[0, 1]] output_shape [8] : memref<8xi64> into memref<2x4xi64>
  memref.store %v, %k[%z, %z] : memref<2x4xi64>
  return
}
// -----
// 3 * 6148914691236517208 is 8 in 64 bits.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %a = arith.constant 3 : index
  %b = arith.constant 6148914691236517208 : index
  %k = memref.expand_shape %m [[0, 1]] output_shape [%a, %b] : memref<?xi64> into memref<?x?xi64>
  memref.store %v, %k[%z, %far] : memref<?x?xi64>
  return
}
// -----
// 2^32 * 2^32 is 0.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%z) : memref<?xi64>
  %a = arith.constant 4294967296 : index
  %k = memref.expand_shape %m [[0, 1]] output_shape [%a, %a] : memref<?xi64> into memref<?x?xi64>
  memref.store %v, %k[%z, %far] : memref<?x?xi64>
  return
}
// -----
// Bytes as words.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi8>
  %k = memref.reinterpret_cast %m to offset: [0], sizes: [8], strides: [1] : memref<?xi8> to memref<8xi64>
  memref.store %v, %k[%z] : memref<8xi64>
  return
}
// -----
// Strides that the type does not say.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %k = memref.reinterpret_cast %m to offset: [0], sizes: [10000, 10000], strides: [0, 0] : memref<8xi64> to memref<10000x10000xi64>
  memref.store %v, %k[%z, %z] : memref<10000x10000xi64>
  return
}
// -----
// An offset that the type does not say.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %k = memref.reinterpret_cast %m to offset: [%s], sizes: [4], strides: [1] : memref<8xi64> to memref<4xi64>
  memref.store %v, %k[%z] : memref<4xi64>
  return
}
// -----
// Transposed to another type.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x4xi64>
  %k = memref.transpose %m (i, j) -> (j, i) : memref<2x4xi64> to memref<10000x10000xi64>
  memref.store %v, %k[%z, %z] : memref<10000x10000xi64>
  return
}
// -----
// Transposed, and as if it followed each other.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x4xi64>
  %k = memref.transpose %m (i, j) -> (j, i) : memref<2x4xi64> to memref<4x2xi64>
  memref.store %v, %k[%z, %z] : memref<4x2xi64>
  return
}
// -----
// More dimensions than there are.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x4xi64>
  %k = memref.transpose %m (i, j, k) -> (j, i, k) : memref<2x4xi64> to memref<4x2x1xi64>
  memref.store %v, %k[%z, %z, %z] : memref<4x2x1xi64>
  return
}
// -----
// One dimension twice.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x4xi64>
  %k = memref.transpose %m (i, i) -> (i, i) : memref<2x4xi64> to memref<4x4xi64>
  memref.store %v, %k[%z, %z] : memref<4x4xi64>
  return
}
// -----
// A part of other elements.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
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
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %k = memref.subview %m[2] [3] [2] : memref<8xi64> to memref<3xi64>
  memref.store %v, %k[%z] : memref<3xi64>
  return
}
// -----
// The same, where strides are not known.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %p = memref.reinterpret_cast %m to offset: [0], sizes: [10000, 10000], strides: [%z, %z] : memref<?xi64> to memref<10000x10000xi64, strided<[?, ?]>>
  %k = memref.subview %p[0, 0] [10000, 10000] [1, 1] : memref<10000x10000xi64, strided<[?, ?]>> to memref<10000x10000xi64>
  memref.store %v, %k[%z, %z] : memref<10000x10000xi64>
  return
}
// -----
// Other sizes.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
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
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
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
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<8xi64>
  %b, %o, %size, %stride = memref.extract_strided_metadata %m : memref<8xi64> -> memref<8xi64>, index, index, index
  memref.store %v, %b[%z] : memref<8xi64>
  return
}
// -----
// Sizes whose product is not a number of 64 bits.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi8>
  %k = memref.view %m[%z][] : memref<?xi8> to memref<4294967296x4294967296xi64>
  memref.store %v, %k[%z, %far] : memref<4294967296x4294967296xi64>
  return
}
// -----
// An element of 65 bits takes 16 bytes.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %c = arith.constant 9 : index
  %m = memref.alloc(%c) : memref<?xi8>
  %k = memref.view %m[%z][] : memref<?xi8> to memref<1xi65>
  %x = memref.load %k[%z] : memref<1xi65>
  return
}
// -----
// An alignment that is none.
func.func @main() {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %far = arith.constant 90000000 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc(%n) : memref<?xi64>
  %k = memref.realloc %m(%n) {alignment = 96 : i64} : memref<?xi64> to memref<?xi64>
  memref.dealloc %k : memref<?xi64>
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
