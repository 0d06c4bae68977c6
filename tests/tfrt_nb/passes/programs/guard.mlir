// pipeline: builtin.module(async-guard-operations)
// Only what may go wrong is guarded.
func.func @divide(%a: i64, %b: i64) -> i64 {
  %two = arith.constant 2 : i64
  %x = arith.divsi %a, %b : i64
  %y = arith.divsi %x, %two : i64
  return %y : i64
}
func.func @read(%m: memref<4x?xf32>, %i: index) -> f32 {
  %c3 = arith.constant 3 : index
  %x = memref.load %m[%c3, %i] : memref<4x?xf32>
  return %x : f32
}
