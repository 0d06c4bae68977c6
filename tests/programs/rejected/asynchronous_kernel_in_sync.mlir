func @main() -> i32 attributes {tfrt.sync} {
  %a = tfrt.constant.i32 1
  tfrt.return %a : i32
}
