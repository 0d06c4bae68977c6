// Sync functions called from asynchronous ones.
func @sum(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %0 = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  tfrt.return %0 : i32
}

func @both(%a: i32, %b: i32) -> (i32, i32) attributes {tfrt.sync} {
  %0 = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  %1 = tfrt.mul_s.i32 %a, %b
  tfrt.return %0, %1 : i32, i32
}

func @main() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 6
  %b = "tfrt_test.async_constant.i32"() {value = 7 : i32} : () -> i32
  %0 = "tfrt_test.invoke_sync_function.i32_i32.i32"(%a, %b) {fn = @sum} : (i32, i32) -> i32
  %1:2 = "tfrt_test.invoke_sync_function.i32_i32.i32_i32"(%a, %b) {fn = @both} : (i32, i32) -> (i32, i32)
  tfrt.return %0, %1#0, %1#1 : i32, i32, i32
}
