// Kernels and functions of the wrong kind in sync functions, and the other way round.
func.func @main() -> (i32) attributes {tfrt.sync} {
  %x = tfrt.constant.i32 1
  tfrt.return %x : i32
}
// -----
func.func @main() -> (i32) attributes {tfrt.sync} {
  %x = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  tfrt.return %x : i32
}
// -----
func.func @f() -> i32 {
  %x = tfrt.constant.i32 1
  tfrt.return %x : i32
}
func.func @main() -> (i32) attributes {tfrt.sync} {
  %x = tfrt.call @f() : () -> i32
  tfrt.return %x : i32
}
// -----
func.func @main() -> i32 {
  %x = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  tfrt.return %x : i32
}