// tfrt.if and tfrt.cond, in short and generic form.
func @then(%x: i32) -> i32 {
  %r = tfrt.add.i32 %x, %x
  tfrt.return %r : i32
}

func @otherwise(%x: i32) -> i32 {
  tfrt.return %x : i32
}

func @cond() -> (i32, i32, i32) {
  %t = tfrt.constant.i1 true
  %f = tfrt.constant.i1 false
  %x = tfrt.constant.i32 21
  %0 = tfrt.cond %t @then @otherwise (%x) : (i32) -> (i32)
  %1 = tfrt.cond %f @then @otherwise(%x) : (i32) -> i32
  %2 = "tfrt.cond"(%t, %x) {a_true_fn = @then, b_false_fn = @otherwise} : (i1, i32) -> i32
  tfrt.return %0, %1, %2 : i32, i32, i32
}

func @if_with_attributes() -> i32 {
  %t = tfrt.constant.i1 true
  %x = tfrt.constant.i32 21
  %r = tfrt.if %t, %x attributes {note = "kept"} : (i32) -> (i32) {
    %y = tfrt.add.i32 %x, %x
    tfrt.return %y : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %r : i32
}

func @generic_if() -> (i32, i32) {
  %f = tfrt.constant.i1 false
  %x = tfrt.constant.i32 1
  %y = tfrt.constant.i32 2
  %r:2 = "tfrt.if"(%f, %x, %y) ({
    ^bb0(%a: i32, %b: i32):
      tfrt.return %a, %b : i32, i32
  }, {
    ^bb0(%a: i32, %b: i32):
      tfrt.return %b, %a : i32, i32
  }) : (i1, i32, i32) -> (i32, i32)
  tfrt.return %r#0, %r#1 : i32, i32
}

func @no_else() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %f = tfrt.constant.i1 false
  %x = tfrt.constant.i32 3
  tfrt.if %f, %x, %ch : (i32, !tfrt.chain) -> () {
    %ch1 = tfrt.print.i32 %x, %ch
    tfrt.return
  }
  tfrt.return %ch : !tfrt.chain
}

func @nested() -> i32 {
  %t = tfrt.constant.i1 1
  %x = tfrt.constant.i32 4
  %r = tfrt.if %t, %t, %x : (i1, i32) -> (i32) {
    %s = tfrt.if %t, %x : (i32) -> (i32) {
      %y = tfrt.mul.i32 %x, %x
      tfrt.return %y : i32
    } else {
      tfrt.return %x : i32
    }
    tfrt.return %s : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %r : i32
}

func @late_condition() -> i32 {
  %t = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
  %x = "tfrt_test.async_constant.i32"() {value = 8 : i32} : () -> i32
  %r = tfrt.cond %t @then @otherwise (%x) : (i32) -> (i32)
  tfrt.return %r : i32
}
