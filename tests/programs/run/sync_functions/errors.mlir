// An error ends a sync function, and what depends on its results.
func @fail() -> i32 attributes {tfrt.sync} {
  %a = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %x = "tfrt_test.fail_s"() : () -> i32
  %b = "tfrt.add_s.i32"(%a, %a) : (i32, i32) -> i32
  %c = "tfrt.add_s.i32"(%x, %b) : (i32, i32) -> i32
  tfrt.return %c : i32
}

func @error() -> i32 attributes {tfrt.sync} {
  %x = "tfrt_test.error_s"() : () -> i32
  tfrt.return %x : i32
}

func @fails_later(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %0 = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  %x = "tfrt_test.fail_s"() : () -> i32
  tfrt.return %x : i32
}

func @called() -> (i32, i32) {
  %a = tfrt.constant.i32 6
  %0 = "tfrt_test.invoke_sync_function.i32_i32.i32"(%a, %a) {fn = @fails_later} : (i32, i32) -> i32
  %1 = tfrt.add.i32 %0, %a
  tfrt.return %1, %a : i32, i32
}

// The error is there once, whatever the results would have been.
func @two_results() -> (i32, i32) attributes {tfrt.sync} {
  %a = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %x = "tfrt_test.fail_s"() : () -> i32
  %never = tfrt.new_s.chain
  %printed = tfrt.print.i32 %a, %never
  tfrt.return %a, %x : i32, i32
}

func @calls_it() -> (i32, i32) {
  %r:2 = tfrt.call @two_results() : () -> (i32, i32)
  tfrt.return %r#0, %r#1 : i32, i32
}
