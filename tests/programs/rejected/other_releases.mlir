// Numbers that may be below 0: a loop without signs would go on.
func.func @f(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for unsigned %i = %c0 to %n step %c1 : i32 {
  }
  return
}
// -----
func.func @f() {
  %c0 = arith.constant 0 : i32
  %last = arith.constant 4294967295 : i32
  %c1 = arith.constant 1 : i32
  scf.for unsigned %i = %c0 to %last step %c1 : i32 {
  }
  return
}
// -----
func.func @f(%m: memref<8xi32>, %k: i32) {
  affine.for %i = 0 to 8 {
    affine.store %k, %m[%i] : memref<8xi32>
  }
  return
}
// -----
func.func @f(%t: tensor<4xf32>, %i: index) -> f32 {
  %x = tensor.extract %t[%i] : tensor<4xf32>
  return %x : f32
}
// -----
func.func @f(%i: index) -> index {
  %x = index.add %i, %i
  return %x : index
}
// -----
// Types without values.
func.func @f(%i: index) {
  scf.parallel (%j) = (%i) to (%i) step (%i) -> (i32) {
  }
  return
}
// -----
// A value at the end of a loop that has no results.
func.func @f(%i: index) {
  scf.parallel (%j) = (%i) to (%i) step (%i) {
    scf.yield %j : index
  }
  return
}
