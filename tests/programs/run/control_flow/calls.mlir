// tfrt.call in its forms: several results, none, a chain handed through, recursion, a quoted call.
func @swap(%a: i32, %b: i64) -> (i64, i32) {
  tfrt.return %b, %a : i64, i32
}

func @say(%x: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %0 = tfrt.print.i32 %x, %ch
  tfrt.return %0 : !tfrt.chain
}

func @nothing() {
  tfrt.return
}

func @twice() -> (i32, i64) {
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i64 2
  %0:2 = tfrt.call @swap(%a, %b) : (i32, i64) -> (i64, i32)
  %1, %2 = "tfrt.call"(%0#1, %0#0) {callee = @swap} : (i32, i64) -> (i64, i32)
  tfrt.call @nothing() : () -> ()
  tfrt.return %2, %1 : i32, i64
}

func @in_order() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 2
  %ch1 = tfrt.call @say(%b, %ch0) : (i32, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt.call @say(%a, %ch1) : (i32, !tfrt.chain) -> (!tfrt.chain)
  tfrt.return %ch2 : !tfrt.chain
}

func @factorial(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %last = "tfrt.lessequal.i32"(%n, %one) : (i32, i32) -> i1
  %r = tfrt.if %last, %n, %one : (i32, i32) -> i32 {
    tfrt.return %one : i32
  } else {
    %m = "tfrt.minus.i32"(%n, %one) : (i32, i32) -> i32
    %f = tfrt.call @factorial(%m) : (i32) -> i32
    %p = tfrt.mul.i32 %n, %f
    tfrt.return %p : i32
  }
  tfrt.return %r : i32
}

func @twelve() -> i32 {
  %n = tfrt.constant.i32 12
  %r = tfrt.call @factorial(%n) : (i32) -> i32
  tfrt.return %r : i32
}
