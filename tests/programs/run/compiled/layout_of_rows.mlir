// The layout that rows have anyway is none.
func.func @main() -> i64 {
  %c1 = arith.constant 1 : index
  %x = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x2xi64, affine_map<(d0, d1) -> (d0, d1)>>
  memref.store %x, %m[%c1, %c1] : memref<2x2xi64, affine_map<(d0, d1) -> (d0, d1)>>
  %y = memref.load %m[%c1, %c1] : memref<2x2xi64, affine_map<(d0, d1) -> (d0, d1)>>
  memref.dealloc %m : memref<2x2xi64, affine_map<(d0, d1) -> (d0, d1)>>
  return %y : i64
}
