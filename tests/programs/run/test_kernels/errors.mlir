// Every kernel that fails, and what depends on it.
func @fail() -> (i32, i32) {
  %a = tfrt.constant.i32 1
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{runtime error: something bad happened}}
  %y = tfrt.add.i32 %x, %a
  tfrt.return %y, %a : i32, i32
}

func @partial_fail() -> (i32, i32) {
  // expected-error @+1 {{something bad happened}}
  %x, %y = "tfrt_test.partial_fail"() : () -> (i32, i32)
  %z = tfrt.add.i32 %x, %x
  tfrt.return %z, %y : i32, i32
}

func @asynchronously() -> (i32, i32, i32, i32, i32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %a = "tfrt_test.report_error_async"() : () -> i32 // expected-error {{something bad happened asynchronously}}
  %b = "tfrt_test.report_error_concrete_async"(%zero) : (i32) -> i32
  %c = "tfrt_test.report_error_concrete_async"(%one) : (i32) -> i32 // expected-error {{something bad happened asynchronously}}
  %d = "tfrt_test.report_error_indirect_async"(%zero) : (i32) -> i32
  %e = "tfrt_test.report_error_indirect_async"(%one) : (i32) -> i32 // expected-error {{something bad happened asynchronously}}
  tfrt.return %a, %b, %c, %d, %e : i32, i32, i32, i32, i32
}

func @chain() -> (!tfrt.chain, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = "tfrt_test.error_chain"(%ch0) : (!tfrt.chain) -> !tfrt.chain // expected-error {{error chain}}
  %x = tfrt.constant.i32 5
  %ch2 = tfrt.print.i32 %x, %ch1
  %ch3 = tfrt.print.i32 %x, %ch0
  tfrt.return %ch2, %ch3 : !tfrt.chain, !tfrt.chain
}

func @cancelled() -> (i32, !tfrt.chain, i32) {
  %ch0 = tfrt.new.chain
  %zero, %ch1 = "tfrt_test.cancel"(%ch0) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %x = tfrt.add.i32 %zero, %zero
  tfrt.return %zero, %ch1, %x : i32, !tfrt.chain, i32
}
