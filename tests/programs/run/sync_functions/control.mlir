// Calls, conditions, cases and loops in sync functions.
func.func @fib(%n: i32) -> i32 attributes {tfrt.sync} {
  %one = tfrt.constant_s.i32 1
  %is_small = tfrt.lessequal_s.i32 %n, %one
  %result = tfrt.if %is_small, %n : (i32) -> i32 {
    tfrt.return %n : i32
  } else {
    %inner_one = tfrt.constant_s.i32 1
    %before = tfrt.minus_s.i32 %n, %inner_one
    %first = tfrt.minus_s.i32 %before, %inner_one
    %left = tfrt.call @fib(%before) : (i32) -> i32
    %right = tfrt.call @fib(%first) : (i32) -> i32
    %sum = tfrt.add_s.i32 %left, %right
    tfrt.return %sum : i32
  }
  tfrt.return %result : i32
}

func.func @fibs() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 0
  %b = tfrt.constant.i32 2
  %c = tfrt.constant.i32 15
  %0 = tfrt.call @fib(%a) : (i32) -> i32
  %1 = tfrt.call @fib(%b) : (i32) -> i32
  %2 = tfrt.call @fib(%c) : (i32) -> i32
  tfrt.return %0, %1, %2 : i32, i32, i32
}

// The values of a loop change places.
func.func @rotated() -> (i32, i32, i32, !tfrt.string, !tfrt.string) attributes {tfrt.sync} {
  %n = tfrt.constant_s.i32 5
  %a = tfrt.constant_s.i32 1
  %b = tfrt.constant_s.i32 2
  %c = tfrt.constant_s.i32 3
  %s = "tfrt_test.get_string_sync"() {value = "s"} : () -> !tfrt.string
  %t = "tfrt_test.get_string_sync"() {value = "t"} : () -> !tfrt.string
  %r:5 = tfrt.repeat.i32 %n, %a, %b, %c, %s, %t : i32, i32, i32, !tfrt.string, !tfrt.string {
    tfrt.return %b, %c, %a, %t, %s : i32, i32, i32, !tfrt.string, !tfrt.string
  }
  tfrt.return %r#0, %r#1, %r#2, %r#3, %r#4 : i32, i32, i32, !tfrt.string, !tfrt.string
}

// They are used after their successors are made.
func.func @used_again() -> (i32, i32) attributes {tfrt.sync} {
  %n = tfrt.constant_s.i32 5
  %a = tfrt.constant_s.i32 1
  %b = tfrt.constant_s.i32 1
  %r:2 = tfrt.repeat.i32 %n, %a, %b : i32, i32 {
    %next = tfrt.add_s.i32 %a, %b
    %old = tfrt.mul_s.i32 %a, %b
    %sum = tfrt.add_s.i32 %old, %next
    tfrt.return %next, %sum : i32, i32
  }
  tfrt.return %r#0, %r#1 : i32, i32
}

func.func @loop_in_loop() -> (i32, i32) attributes {tfrt.sync} {
  %n = tfrt.constant_s.i32 9
  %zero = tfrt.constant_s.i32 0
  %r:2 = tfrt.repeat.i32 %n, %zero, %n : i32, i32 {
    %s = tfrt.repeat.i32 %n, %zero : i32 {
      %one = tfrt.constant_s.i32 1
      %t = tfrt.add_s.i32 %zero, %one
      tfrt.return %t : i32
    }
    tfrt.return %s, %n : i32, i32
  }
  %nothing = tfrt.repeat.i32 %zero, %n : i32 {
    %x = "tfrt_test.fail_s"() : () -> i32
    tfrt.return %x : i32
  }
  tfrt.return %r#0, %nothing : i32, i32
}

func.func @negative() -> i32 attributes {tfrt.sync} {
  %n = tfrt.constant_s.i32 -4
  %r = tfrt.repeat.i32 %n, %n : i32 { // expected-error {{the number of iterations is negative: -4}}
    tfrt.return %n : i32
  }
  tfrt.return %r : i32
}

func.func @body(%left: i32, %total: i64) -> (i32, i64, i1) attributes {tfrt.sync} {
  %one = tfrt.constant_s.i32 1
  %next = tfrt.minus_s.i32 %left, %one
  %two = tfrt.constant_s.i64 2
  %sum = tfrt.add_s.i64 %total, %two
  %goes_on = tfrt.lessequal_s.i32 %one, %next
  tfrt.return %next, %sum, %goes_on : i32, i64, i1
}

func.func @while() -> (i64, i64, i64) attributes {tfrt.sync} {
  %one = tfrt.constant_s.i32 1
  %ten = tfrt.constant_s.i32 10
  %zero = tfrt.constant_s.i64 0
  %yes = tfrt.constant_s.i1 true
  %no = tfrt.constant_s.i1 false
  %a:2 = tfrt.while %yes @body(%ten, %zero) parallel_iterations(1) : (i32, i64) -> (i32, i64)
  %b:2 = tfrt.while %yes @body(%one, %zero) parallel_iterations(1) : (i32, i64) -> (i32, i64)
  %c:2 = tfrt.while %no @body(%ten, %zero) parallel_iterations(1) : (i32, i64) -> (i32, i64)
  tfrt.return %a#1, %b#1, %c#1 : i64, i64, i64
}

func.func @double(%x: i32) -> i32 attributes {tfrt.sync} {
  %y = tfrt.add_s.i32 %x, %x
  tfrt.return %y : i32
}

func.func @square(%x: i32) -> i32 attributes {tfrt.sync} {
  %y = tfrt.mul_s.i32 %x, %x
  tfrt.return %y : i32
}

func.func @cases() -> (i32, i32) attributes {tfrt.sync} {
  %zero = tfrt.constant_s.i32 0
  %one = tfrt.constant_s.i32 1
  %x = tfrt.constant_s.i32 7
  %a = tfrt.case %zero [@double, @square] (%x) : (i32) -> (i32)
  %b = tfrt.case %one [@double, @square] (%x) : (i32) -> (i32)
  tfrt.return %a, %b : i32, i32
}

func.func @no_such_case() -> i32 attributes {tfrt.sync} {
  %x = tfrt.constant_s.i32 5
  %a = tfrt.case %x [@double, @square] (%x) : (i32) -> (i32) // expected-error {{branch index: 5 # branches: 2}}
  tfrt.return %a : i32
}

// Both kinds of functions choose by a condition, which may be used again.
func.func @chosen() -> (i32, i32, i1) attributes {tfrt.sync} {
  %x = tfrt.constant_s.i32 9
  %yes = tfrt.constant_s.i1 true
  %no = tfrt.constant_s.i1 false
  %a = tfrt.cond %yes @double @square (%x) : (i32) -> (i32)
  %b = tfrt.cond %no @double @square (%x) : (i32) -> (i32)
  %r = tfrt.if %no, %no : (i1) -> i1 {
    tfrt.return %no : i1
  } else {
    tfrt.return %no : i1
  }
  %both = tfrt.and_s.i1 %r, %no
  tfrt.return %a, %b, %both : i32, i32, i1
}

func.func @chosen_by_host() -> (i32, i32) {
  %x = tfrt.constant.i32 9
  %yes = tfrt.constant.i1 true
  %no = tfrt.constant.i1 false
  %a = tfrt.cond %yes @double @square (%x) : (i32) -> (i32)
  %b = tfrt.cond %no @double @square (%x) : (i32) -> (i32)
  tfrt.return %a, %b : i32, i32
}

func.func private @native_add(i32, i32) -> i32 attributes {tfrt.native}
func.func private @native_error() -> i32 attributes {tfrt.native}
func.func private @native_async_add(i32, i32) -> i32 attributes {tfrt.native}

func.func @native() -> i32 attributes {tfrt.sync} {
  %x = tfrt.constant_s.i32 21
  %r = tfrt.call @native_add(%x, %x) : (i32, i32) -> i32
  tfrt.return %r : i32
}

func.func @native_fails() -> i32 attributes {tfrt.sync} {
  %r = tfrt.call @native_error() : () -> i32
  tfrt.return %r : i32
}

// The call lasts until the native function has ended.
func.func @native_is_late() -> i32 attributes {tfrt.sync} {
  %x = tfrt.constant_s.i32 1
  %r = tfrt.call @native_async_add(%x, %x) : (i32, i32) -> i32
  tfrt.return %r : i32
}

func.func @nothing() attributes {tfrt.sync} {
  tfrt.return
}

func.func @calls_nothing() -> i32 attributes {tfrt.sync} {
  tfrt.call @nothing() : () -> ()
  %r = "tfrt_test.sync_sum"() : () -> i32
  tfrt.return %r : i32
}

// What a host loop awaits, a sync function gets.
func.func @step(%x: i32) -> i32 attributes {tfrt.sync} {
  %one = tfrt.constant_s.i32 1
  %y = tfrt.add_s.i32 %x, %one
  tfrt.return %y : i32
}

func.func @host_loop() -> i32 {
  %n = tfrt.constant.i32 20
  %late = "tfrt_test.async_copy.i32"(%n) : (i32) -> i32
  %r = tfrt.repeat.i32 %n, %late : i32 {
    %next = tfrt.call @step(%late) : (i32) -> i32
    tfrt.return %next : i32
  }
  tfrt.return %r : i32
}

// Prints come in their order, on one chain.
func.func @prints() -> !tfrt.chain attributes {tfrt.sync} {
  %c0 = tfrt.new_s.chain
  %x = tfrt.constant_s.i32 7
  %one = tfrt.constant_s.i32 1
  %c1 = tfrt.print.i32 %x, %c0
  %y = tfrt.add_s.i32 %x, %one
  %c2 = tfrt.print.i32 %y, %c0
  tfrt.return %c2 : !tfrt.chain
}

// Only what depends on an error of a sync function is skipped.
func.func @fails(%x: i32) -> i32 attributes {tfrt.sync} {
  %y = "tfrt_test.fail_s"() : () -> i32
  tfrt.return %y : i32
}

func.func @skips() -> (i32, i32) {
  %x = tfrt.constant.i32 4
  %a = tfrt.call @fails(%x) : (i32) -> i32
  %b = tfrt.add.i32 %a, %x
  %c = tfrt.add.i32 %x, %x
  tfrt.return %b, %c : i32, i32
}
