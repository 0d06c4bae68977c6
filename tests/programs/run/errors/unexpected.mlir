// RUN: any order
// Errors that no comment expects, and comments that nothing answers.
func @main() -> i32 {
  // expected-error @+1 {{another text}}
  %x = "tfrt_test.fail"() : () -> i32
  %y = tfrt.add.i32 %x, %x // expected-error {{never raised}}
  tfrt.return %y : i32
}

func @twice() -> (i32, i32) {
  %a = tfrt.constant.i32 1
  %z = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %a,
                         %z
  %s, %t = tfrt.div.i32 %a, %z loc("elsewhere.py":10:4)
  tfrt.return %q, %s : i32, i32
}

func @at_half_a_place() -> (i32, i32, i32) {
  %0 = "tfrt_test.fail"() : () -> i32 loc("unexpected.mlir":0:0)
  %1 = "tfrt_test.fail"() : () -> i32 loc("unexpected.mlir":1:0)
  %2 = "tfrt_test.fail"() : () -> i32 loc(fused["elsewhere.mlir":1:0, unknown])
  tfrt.return %0, %1, %2 : i32, i32, i32
}
