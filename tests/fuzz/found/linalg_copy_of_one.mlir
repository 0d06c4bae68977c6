func.func @main(%m: memref<2xf32>) {
  linalg.copy %m : memref<2xf32>
  return
}
