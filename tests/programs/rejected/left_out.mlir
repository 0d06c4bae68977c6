// Operations of MLIR that are no part of this toolkit are unknown, in the short form as in the long one.
func.func @view(%bytes: memref<32xi8>, %at: index) {
  %view = memref.view %bytes[%at][] : memref<32xi8> to memref<4xf64>
  return
}
// -----
func.func @product(%a: i32) {
  %low, %high = arith.mulsi_extended %a, %a : i32
  return
}
// -----
func.func @sum(%a: index) {
  %sum = index.add %a, %a
  return
}
// -----
func.func @main() {
  %rows = memref.alloc() : memref<2x4xi64>
  %line = "memref.collapse_shape"(%rows) {reassociation = [[0, 1]]} : (memref<2x4xi64>) -> memref<8xi64>
  return
}
