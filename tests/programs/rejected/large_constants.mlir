// A constant is kept element by element, so that its size has a bound.
memref.global "private" @g : memref<4194304x4194304xi64> = dense<0>

// -----
func.func @main() {
  %a = arith.constant dense<1> : vector<100000000xi64>
  return
}
