func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %c = memref.cast %u : memref<*xf32> to memref<?xf32>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %c = memref.cast %u : memref<*xf32> to memref<?x?x?xf32>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %c = memref.cast %u : memref<*xf32> to memref<3x4xf32>
  return
}
// -----
func.func @main() {
  %i = arith.constant 2 : index
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %c = memref.dim %u, %i : memref<*xf32>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %n = memref.rank %u : memref<*xf32>
  %c = memref.dim %m, %n : memref<3x5xf32>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %part = memref.subview %m[0, 0] [3, 2] [1, 1] : memref<3x5xf32> to memref<3x2xf32, strided<[5, 1]>>
  %any = memref.cast %part : memref<3x2xf32, strided<[5, 1]>> to memref<*xf32>
  %c = memref.cast %any : memref<*xf32> to memref<?x?xf32>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %d = memref.cast %m : memref<3x5xf32> to memref<?x?xf32>
  %c = memref.cast %d : memref<?x?xf32> to memref<3x6xf32>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  memref.dealloc %u : memref<*xf32>
  memref.dealloc %m : memref<3x5xf32>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %x = memref.alloc() : memref<1x1x1x1x1x1x1x1x1xf32>
  %y = memref.cast %x : memref<1x1x1x1x1x1x1x1x1xf32> to memref<*xf32>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %x = memref.cast %u : memref<*xf32> to memref<*xf32>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3x5xf32>
  %u = memref.cast %m : memref<3x5xf32> to memref<*xf32>
  %x = memref.cast %u : memref<*xf32> to memref<?x?xf64>
  return
}
