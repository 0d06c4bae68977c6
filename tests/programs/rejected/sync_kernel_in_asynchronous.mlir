func @main() -> i32 {
  %a = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  tfrt.return %a : i32
}
