// Buffers of rank 4, of i1 and of i16, on the heap and in the frame.
func.func private @printI64(i64)
func.func private @printComma()
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = memref.alloc(%c2, %c2, %c1) : memref<?x?x3x?xi1>
  %t = arith.constant true
  %f = arith.constant false
  memref.store %t, %m[%c1, %c0, %c2, %c0] : memref<?x?x3x?xi1>
  memref.store %f, %m[%c1, %c1, %c2, %c0] : memref<?x?x3x?xi1>
  %0 = memref.load %m[%c1, %c0, %c2, %c0] : memref<?x?x3x?xi1>
  %1 = memref.load %m[%c1, %c1, %c2, %c0] : memref<?x?x3x?xi1>
  %2 = arith.extui %0 : i1 to i64
  %3 = arith.extsi %0 : i1 to i64
  %4 = arith.extui %1 : i1 to i64
  func.call @printI64(%2) : (i64) -> ()
  func.call @printI64(%3) : (i64) -> ()
  func.call @printI64(%4) : (i64) -> ()
  %a = memref.alloca() : memref<16x16xindex>
  %b = memref.alloca(%c2) : memref<?xi16>
  %x = arith.constant -77 : i16
  memref.store %x, %b[%c1] : memref<?xi16>
  %y = memref.load %b[%c1] : memref<?xi16>
  %z = arith.extsi %y : i16 to i64
  func.call @printI64(%z) : (i64) -> ()
  memref.dealloc %m : memref<?x?x3x?xi1>
  return
}
