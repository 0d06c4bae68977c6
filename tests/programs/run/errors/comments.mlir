// The forms of comments that expect errors.
func @main() -> (i32, i32, i32, i32, i32) {
  %0 = "tfrt_test.fail"() : () -> i32 // expected-error {{}}
  // expected-error@+1 {{runtime error: something bad happened}}
  %1 = "tfrt_test.fail"() : () -> i32
  %2 = "tfrt_test.fail"() : () -> i32
  // expected-error@-1{{bad}}
  // expected-error @below {{happened}}
  %3 = "tfrt_test.fail"() : () -> i32
  %4 = "tfrt_test.fail"() : () -> i32
  // expected-error-re @above {{some{{[a-z]+}} bad {{.*}}ed}}
  tfrt.return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}

func @failing() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{bad}} some words behind it
  tfrt.return %x : i32
}

func @raised_twice_expected_once() -> (i32, i32) {
  %x = tfrt.call @failing() : () -> i32
  %y = tfrt.call @failing() : () -> i32
  tfrt.return %x, %y : i32, i32
}
