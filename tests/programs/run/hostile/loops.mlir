// Counts and ranges that cannot be meant.
func @repeat_less_than_never() -> i32 {
  %n = tfrt.constant.i32 -2147483648
  %r = tfrt.repeat.i32 %n, %n : i32 { // expected-error {{the number of iterations is negative: -2147483648}}
    tfrt.return %n : i32
  }
  tfrt.return %r : i32
}

func @parallel_with_blocks_of_nothing() -> !tfrt.chain {
  %from = tfrt.constant.i32 0
  %to = tfrt.constant.i32 5
  %size = tfrt.constant.i32 0
  %done = tfrt.parallel_for.i32 %from to %to fixed %size {
    tfrt.return
  }
  tfrt.return %done : !tfrt.chain
}

func @parallel_backwards() -> !tfrt.chain {
  %from = tfrt.constant.i32 2147483647
  %to = tfrt.constant.i32 -2147483648
  %size = tfrt.constant.i32 1
  %done = tfrt.parallel_for.i32 %from to %to fixed %size {
    tfrt.return
  }
  tfrt.return %done : !tfrt.chain
}

func @parallel_to_the_end_of_numbers() -> (i32, !tfrt.chain) {
  %a = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %from = tfrt.constant.i32 -2147483648
  %to = tfrt.constant.i32 2147483647
  %size = tfrt.constant.i32 2147483647
  %done = tfrt.parallel_for.i32 %from to %to fixed %size, %a : !test.atomic.i32 {
    %ch = tfrt.new.chain
    %ch1 = "tfrt_test.atomic.inc.i32"(%a, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %ch1 : !tfrt.chain
  }
  %r:2 = "tfrt_test.atomic.get.i32"(%a, %done) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}
