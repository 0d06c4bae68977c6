func.func @shop(%pieces: i32) -> i32 {
  %price = tfrt.constant.i32 25
  %cost = tfrt.mul.i32 %pieces, %price
  tfrt.return %cost : i32
}
