func @fine() -> i32 {
  %a = tfrt.constant.i32 1
  tfrt.return %a : i32
}
func @wrong() -> i32 {
  %a = "my.kernel"() : () -> i32
  %b = "my.other"(%a) : (i32) -> i32
  tfrt.return %b : i32
}
