func @main() -> i32 {
  %a = "tfrt_test.async_constant.i32"() {value = "one"} : () -> i32
  tfrt.return %a : i32
}
