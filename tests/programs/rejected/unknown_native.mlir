func private @native_of_nobody(i32) -> i32 attributes {tfrt.native}
func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.call @native_of_nobody(%a) : (i32) -> i32
  tfrt.return %b : i32
}
