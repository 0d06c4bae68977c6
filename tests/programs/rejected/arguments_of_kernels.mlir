func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %b = "tfrt.minus.i32"(%a) : (i32) -> i32
  tfrt.return %b : i32
}
