// Functions that are not in the program but in the runtime.
func private @native_add(i32, i32) -> i32 attributes {tfrt.native}
func private @native_async_add(i32, i32) -> i32 attributes {tfrt.native}
func private @native_sink(i32) attributes {tfrt.native}
func private @native_async_sink(i32) -> !tfrt.chain attributes {tfrt.native}
func private @native_error() -> i32 attributes {tfrt.native}

func @main() -> (i32, i32, !tfrt.chain) {
  %a = tfrt.constant.i32 1
  %b = "tfrt_test.async_constant.i32"() {value = 2 : i32} : () -> i32
  %0 = tfrt.call @native_add(%a, %b) : (i32, i32) -> i32
  %1 = tfrt.call @native_async_add(%0, %b) : (i32, i32) -> i32
  tfrt.call @native_sink(%1) : (i32) -> ()
  %2 = tfrt.call @native_async_sink(%1) : (i32) -> !tfrt.chain
  tfrt.return %0, %1, %2 : i32, i32, !tfrt.chain
}

func @error() -> (i32, i32) {
  %a = tfrt.constant.i32 1
  %0 = tfrt.call @native_error() : () -> i32
  %1 = tfrt.add.i32 %0, %a
  tfrt.return %1, %a : i32, i32
}
