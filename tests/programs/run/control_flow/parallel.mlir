// tfrt.parallel_for.i32 and tfrt.parallel_call.i32: blocks of a range, counted together.
func @count(%from: i32, %to: i32, %sum: !test.atomic.i32) -> !tfrt.chain {
  %ch = tfrt.new.chain
  %n = "tfrt.minus.i32"(%to, %from) : (i32, i32) -> i32
  %ch1 = "tfrt_test.atomic.add.i32"(%sum, %n, %ch) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @call() -> (i32, !tfrt.chain) {
  %a = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %from = tfrt.constant.i32 -3
  %to = tfrt.constant.i32 40
  %size = tfrt.constant.i32 4
  %done = tfrt.parallel_call.i32 %from to %to fixed %size @count(%a) : !test.atomic.i32
  %r:2 = "tfrt_test.atomic.get.i32"(%a, %done) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}

func @region() -> (i32, !tfrt.chain) {
  %a = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %from = tfrt.constant.i32 0
  %to = tfrt.constant.i32 10
  %size = tfrt.constant.i32 3
  %done = tfrt.parallel_for.i32 %from to %to fixed %size, %a : !test.atomic.i32 {
    %ch = tfrt.new.chain
    %ch1 = "tfrt_test.atomic.inc.i32"(%a, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %ch1 : !tfrt.chain
  }
  %r:2 = "tfrt_test.atomic.get.i32"(%a, %done) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}

func @one_block_in_the_caller() -> !tfrt.chain {
  %from = tfrt.constant.i32 2
  %to = tfrt.constant.i32 4
  %size = tfrt.constant.i32 100
  %done = tfrt.parallel_for.i32 %from to %to fixed %size {
    %ch = tfrt.new.chain
    %ch1 = tfrt.print.i32 %from, %ch
    %ch2 = tfrt.print.i32 %to, %ch1
    tfrt.return %ch2 : !tfrt.chain
  }
  tfrt.return %done : !tfrt.chain
}

func @nothing_to_do() -> !tfrt.chain {
  %from = tfrt.constant.i32 4
  %to = tfrt.constant.i32 4
  %size = tfrt.constant.i32 1
  %done = tfrt.parallel_for.i32 %from to %to fixed %size {
    %x = "tfrt_test.fail"() : () -> i32
    tfrt.return
  }
  tfrt.return %done : !tfrt.chain
}
