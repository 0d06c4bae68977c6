// tfrt.repeat.i32 and tfrt.while.
func @powers() -> (i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %n = tfrt.constant.i32 3
  %one = tfrt.constant.i32 1
  %r:2 = tfrt.repeat.i32 %n, %one, %ch : i32, !tfrt.chain {
    %d = tfrt.add.i32 %one, %one
    %ch1 = tfrt.print.i32 %d, %ch
    tfrt.return %d, %ch1 : i32, !tfrt.chain
  }
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}

func @no_round() -> i32 {
  %n = tfrt.constant.i32 0
  %x = tfrt.constant.i32 17
  %r = tfrt.repeat.i32 %n, %x : i32 {
    %y = "tfrt_test.fail"() : () -> i32
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}

func @generic_repeat() -> i32 {
  %n = tfrt.constant.i32 10
  %x = tfrt.constant.i32 1
  %r = "tfrt.repeat.i32"(%n, %x) ({
  ^bb0(%y: i32):
    %z = tfrt.add.i32 %y, %y
    tfrt.return %z : i32
  }) : (i32, i32) -> i32
  tfrt.return %r : i32
}

func @no_values() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %n = tfrt.constant.i32 2
  tfrt.repeat.i32 %n {
    %x = tfrt.constant.i32 1
    tfrt.return
  }
  tfrt.return %ch : !tfrt.chain
}

func @below_hundred(%x: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain, i1) {
  %two = tfrt.constant.i32 3
  %y = tfrt.mul.i32 %x, %two
  %ch1 = tfrt.print.i32 %y, %ch
  %most = tfrt.constant.i32 99
  %again = "tfrt.lessequal.i32"(%y, %most) : (i32, i32) -> i1
  tfrt.return %y, %ch1, %again : i32, !tfrt.chain, i1
}

func @while() -> (i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %t = tfrt.constant.i1 true
  %one = tfrt.constant.i32 1
  %r:2 = tfrt.while %t @below_hundred(%one, %ch) parallel_iterations(1) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}

func @generic_while_of_many() -> (i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %t = tfrt.constant.i1 true
  %one = tfrt.constant.i32 5
  %r:2 = "tfrt.while"(%t, %one, %ch) {body_fn = @below_hundred, parallel_iterations = 10 : i64} : (i1, i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}

func @never() -> (i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %f = tfrt.constant.i1 false
  %one = tfrt.constant.i32 1
  %r:2 = tfrt.while %f @below_hundred(%one, %ch) parallel_iterations(1) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}
