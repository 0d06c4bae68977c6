func.func @main() -> memref<4xi64> {
  %y = arith.constant dense<1> : memref<4xi64>
  return %y : memref<4xi64>
}
