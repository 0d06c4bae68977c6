// An error skips what depends on it, through every kind of control flow, and nothing else.
func @identity(%x: i32) -> i32 {
  tfrt.return %x : i32
}

func @constant(%x: i32) -> i32 {
  %c = tfrt.constant.i32 100
  tfrt.return %c : i32
}

func @more(%x: i32) -> (i32, i1) {
  %f = tfrt.constant.i1 false
  tfrt.return %x, %f : i32, i1
}

func @called() -> (i32, i32) {
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %a = tfrt.call @identity(%x) : (i32) -> i32
  %b = tfrt.call @constant(%x) : (i32) -> i32
  tfrt.return %a, %b : i32, i32
}

func @if() -> (i32, i32) {
  %t = tfrt.constant.i1 true
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %y = tfrt.constant.i32 1
  %c = tfrt.equal.i32 %x, %y
  %a = tfrt.if %t, %x : (i32) -> (i32) {
    tfrt.return %x : i32
  } else {
    tfrt.return %x : i32
  }
  %b = tfrt.if %c, %y : (i32) -> (i32) {
    tfrt.return %y : i32
  } else {
    tfrt.return %y : i32
  }
  tfrt.return %a, %b : i32, i32
}

func @cond() -> i32 {
  %y = tfrt.constant.i32 1
  %z = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %y, %z // expected-error {{Divide by zero}}
  %c = "tfrt.lessequal.i32"(%q, %y) : (i32, i32) -> i1
  %a = tfrt.cond %c @identity @constant (%y) : (i32) -> (i32)
  tfrt.return %a : i32
}

func @repeat() -> (i32, i32) {
  %n = tfrt.constant.i32 3
  %y = tfrt.constant.i32 1
  %w = tfrt.constant.i32 2
  %r:2 = tfrt.repeat.i32 %n, %y, %w : i32, i32 {
    %x, %z = "tfrt_test.partial_fail"() : () -> (i32, i32) // expected-error {{something bad happened}}
    tfrt.return %z, %x : i32, i32
  }
  tfrt.return %r#0, %r#1 : i32, i32
}

func @while() -> (i32) {
  %t = tfrt.constant.i1 true
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %r = tfrt.while %t @more(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}

func @tasks() -> (i32, i32) {
  %y = tfrt.constant.i32 1
  %r:2 = tfrt_test.do.async %y : (i32) -> (i32, i32) {
    %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
    %z = tfrt.add.i32 %x, %y
    tfrt.return %z, %y : i32, i32
  }
  tfrt.return %r#0, %r#1 : i32, i32
}

func @parallel() -> !tfrt.chain {
  %from = tfrt.constant.i32 0
  %to = tfrt.constant.i32 1
  %ch = tfrt.parallel_for.i32 %from to %to fixed %to {
    %ch0 = tfrt.new.chain
    %ch1 = "tfrt_test.error_chain"(%ch0) : (!tfrt.chain) -> !tfrt.chain // expected-error {{error chain}}
    tfrt.return %ch1 : !tfrt.chain
  }
  tfrt.return %ch : !tfrt.chain
}

func @merged() -> (!tfrt.chain, i32) {
  %ch0 = tfrt.new.chain
  %ch1 = "tfrt_test.error_chain"(%ch0) : (!tfrt.chain) -> !tfrt.chain // expected-error {{error chain}}
  %ch2 = tfrt.merge.chains %ch0, %ch1 : !tfrt.chain, !tfrt.chain
  %y = tfrt.constant.i32 1
  %z = "tfrt.alias.value"(%ch2, %y) : (!tfrt.chain, i32) -> i32
  tfrt.return %ch2, %z : !tfrt.chain, i32
}

func @last_one_wins() -> i32 {
  %y = tfrt.constant.i32 1
  %z = tfrt.constant.i32 0
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %q, %r = tfrt.div.i32 %y, %z // expected-error {{Divide by zero}}
  %a = "tfrt_test.sum"(%q, %x, %y) : (i32, i32, i32) -> i32
  %b = "tfrt_test.sum"(%x, %y, %q) : (i32, i32, i32) -> i32
  %c = tfrt.equal.i32 %a, %b
  %d = "tfrt_test.sum"(%x, %q) : (i32, i32) -> i32
  tfrt.return %d : i32
}
