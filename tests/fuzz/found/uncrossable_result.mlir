func.func @main(%x: i32) -> i32 {
  %r = tfrt.call @g(%x) : (i32) -> i128
  tfrt.return %x : i32
}
func.func @g(%x: i32) -> i128 {
  %r = arith.constant 1 : i128
  return %r : i128
}
