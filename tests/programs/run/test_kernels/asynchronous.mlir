// Kernels whose results come later.
func @constants() -> (i1, i32) {
  %a = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
  %b = "tfrt_test.async_constant.i32"() {value = -5 : i32} : () -> i32
  tfrt.return %a, %b : i1, i32
}

func @copies() -> (i32, i32, i32, i64, i32, i64) {
  %a = tfrt.constant.i32 11
  %b = tfrt.constant.i64 12
  %0 = "tfrt_test.async_copy.i32"(%a) : (i32) -> i32
  %1 = "tfrt_test.async_copy_2.i32"(%0) : (i32) -> i32
  %2 = "tfrt_test.async_copy.with_delay.i32"(%1) : (i32) -> i32
  %3 = "tfrt_test.async_copy.with_delay.i64"(%b) : (i64) -> i64
  %4 = "tfrt_test.copy.with_delay.i32"(%2) : (i32) -> i32
  %5 = "tfrt_test.copy.with_delay.i64"(%3) : (i64) -> i64
  tfrt.return %0, %1, %2, %3, %4, %5 : i32, i32, i32, i64, i32, i64
}

func @sum() -> i32 {
  %a = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %b = "tfrt_test.async_add.i32"(%a, %a) : (i32, i32) -> i32
  %c = "tfrt_test.async_add.i32"(%b, %a) : (i32, i32) -> i32
  tfrt.return %c : i32
}

func @in_a_task() -> (i32, i32) {
  %a = tfrt.constant.i32 3
  %b = tfrt.constant.i32 4
  %r:2 = tfrt_test.do.async %a, %b : (i32, i32) -> (i32, i32) {
    %c = tfrt.add.i32 %a, %b
    %d = tfrt.mul.i32 %a, %b
    tfrt.return %c, %d : i32, i32
  }
  tfrt.return %r#0, %r#1 : i32, i32
}

func @in_a_task_in_quotes() -> i32 {
  %a = tfrt.constant.i32 3
  %r = "tfrt_test.do.async"(%a) ({
  ^bb0(%b: i32):
    %s = tfrt_test.do.async %b : (i32) -> (i32) {
      %c = tfrt.add.i32 %b, %b
      tfrt.return %c : i32
    }
    tfrt.return %s : i32
  }) : (i32) -> i32
  tfrt.return %r : i32
}

func @nothing_in_a_task() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %r = tfrt_test.do.async %ch : (!tfrt.chain) -> (!tfrt.chain) {
    %a = tfrt.constant.i32 99
    %ch1 = tfrt.print.i32 %a, %ch
    tfrt.return %ch1 : !tfrt.chain
  }
  tfrt.return %r : !tfrt.chain
}
