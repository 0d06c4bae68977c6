// What is raised is an error: a comment that expects something else is wrong.
func @main() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32 // expected-warning {{something bad}}
  tfrt.return %x : i32
}
