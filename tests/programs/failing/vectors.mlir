func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.addf %x, %x : vector<2x2xf32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = math.sin %x : vector<2x2xf32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = math.erf %x : vector<2x2xf32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.cmpf oeq, %x, %x : vector<2x2xf32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.extsi %i : vector<4xi32> to vector<2xi64>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.extsi %i : vector<4xi32> to vector<4xi16>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.trunci %i : vector<4xi32> to vector<4xi64>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.index_cast %i : vector<4xi32> to vector<4xi64>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.select %c, %i, %i : vector<2xi1>, vector<4xi32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = math.ipowi %i, %i : vector<4xi32>
  return
}
