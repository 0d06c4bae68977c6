// Views of no and of one element, of rows that follow each other, and more buffers of `memref.alloca` than a stack has room for.
func.func private @printMemrefI64(memref<*xi64>) attributes { llvm.emit_c_interface }

func.func private @one() -> index {
  %one = arith.constant 1 : index
  return %one : index
}
func.func @views() {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %one = call @one() : () -> index
  %seven = arith.constant 7 : i64
  %empty = memref.alloc(%zero) : memref<?xi64>
  %none = memref.subview %empty[0] [%zero] [1] : memref<?xi64> to memref<?xi64, strided<[1]>>
  %size = memref.dim %none, %zero : memref<?xi64, strided<[1]>>
  vector.print %size : index
  %single = memref.alloc() : memref<i64>
  memref.store %seven, %single[] : memref<i64>
  %found = memref.load %single[] : memref<i64>
  vector.print %found : i64

  %table = memref.alloc() : memref<3x4xi64>
  linalg.fill ins(%seven : i64) outs(%table : memref<3x4xi64>)
  %rows = memref.subview %table[1, 0] [%two, 4] [1, 1] : memref<3x4xi64> to memref<?x4xi64, strided<[4, 1], offset: 4>>
  memref.store %found, %rows[%one, %three] : memref<?x4xi64, strided<[4, 1], offset: 4>>
  %cut = memref.subview %table[0, 0] [%one, 3] [1, 1] : memref<3x4xi64> to memref<?x3xi64, strided<[4, 1]>>
  %dynamic = memref.cast %cut : memref<?x3xi64, strided<[4, 1]>> to memref<?x3xi64, strided<[?, 1]>>
  memref.store %found, %dynamic[%zero, %two] : memref<?x3xi64, strided<[?, 1]>>
  %corner = memref.subview %table[0, 1] [1, 1] [2, 3] : memref<3x4xi64> to memref<i64, strided<[], offset: 1>>
  %x = memref.load %corner[] : memref<i64, strided<[], offset: 1>>
  vector.print %x : i64
  %shown = memref.cast %table : memref<3x4xi64> to memref<*xi64>
  memref.dealloc %empty : memref<?xi64>
  memref.dealloc %single : memref<i64>
  memref.dealloc %table : memref<3x4xi64>
  return
}
func.func @main() {
  call @views() : () -> ()
  return
}
