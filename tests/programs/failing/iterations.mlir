func.func @main() {
  %lower = arith.constant -9223372036854775808 : index
  %upper = arith.constant 9223372036854775807 : index
  %one = arith.constant 1 : index
  scf.parallel (%i) = (%lower) to (%upper) step (%one) {
    scf.reduce
  }
  return
}
// -----
func.func @main() {
  %zero = arith.constant 0 : index
  %upper = arith.constant 4294967296 : index
  %one = arith.constant 1 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%upper, %upper) step (%one, %one) {
    scf.reduce
  }
  return
}
