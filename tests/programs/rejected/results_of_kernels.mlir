func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %b, %c = "tfrt.minus.i32"(%a, %a) : (i32, i32) -> (i32, i32)
  tfrt.return %b : i32
}
