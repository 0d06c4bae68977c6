// Sync functions with calls, branches, loops and boxed values, to be damaged.
func.func @fib(%n: i32) -> i32 attributes {tfrt.sync} {
  %one = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %is_small = tfrt.lessequal_s.i32 %n, %one
  %result = tfrt.if %is_small, %n, %one : (i32, i32) -> i32 {
    tfrt.return %n : i32
  } else {
    %before = tfrt.minus_s.i32 %n, %one
    %first = tfrt.minus_s.i32 %before, %one
    %left = tfrt.call @fib(%before) : (i32) -> i32
    %right = tfrt.call @fib(%first) : (i32) -> i32
    %sum = "tfrt.add_s.i32"(%left, %right) : (i32, i32) -> i32
    tfrt.return %sum : i32
  }
  tfrt.return %result : i32
}
func.func @body(%left: i32, %total: i64) -> (i32, i64, i1) attributes {tfrt.sync} {
  %one = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %next = tfrt.minus_s.i32 %left, %one
  %two = tfrt.constant_s.i64 2
  %sum = "tfrt.add_s.i64"(%total, %two) : (i64, i64) -> i64
  %goes_on = tfrt.lessequal_s.i32 %one, %next
  tfrt.return %next, %sum, %goes_on : i32, i64, i1
}
func.func @loops() -> i64 attributes {tfrt.sync} {
  %n = "tfrt.constant_s.i32"() {value = 5 : i32} : () -> i32
  %text = "tfrt_test.get_string_sync"() {value = "sync"} : () -> !tfrt.string
  %zero = tfrt.constant_s.i64 0
  %go = tfrt.constant_s.i1 true
  %rest, %total = tfrt.while %go @body(%n, %zero) parallel_iterations(1) : (i32, i64) -> (i32, i64)
  %s:2 = tfrt.repeat.i32 %n, %total, %text : i64, !tfrt.string {
    %a = "tfrt.add_s.i64"(%total, %total) : (i64, i64) -> i64
    %c = "tfrt.copy_s"(%text) : (!tfrt.string) -> !tfrt.string
    tfrt.return %a, %c : i64, !tfrt.string
  }
  tfrt.return %s#0 : i64
}
func.func @case(%x: i32) -> (i32, !tfrt.string) attributes {tfrt.sync} {
  %i = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %r = tfrt.case %i [@fib, @fib] (%x) : (i32) -> (i32)
  %q, %m = tfrt.div_s.i32 %r, %i
  %t = "tfrt_test.get_string_sync"() {value = "abc"} : () -> !tfrt.string
  %ch = tfrt.new_s.chain
  %p = tfrt.print.i32 %q, %ch
  tfrt.return %q, %t : i32, !tfrt.string
}
func.func @main() -> (i32, i64, !tfrt.string) {
  %n = tfrt.constant.i32 6
  %a = tfrt.call @fib(%n) : (i32) -> i32
  %b = tfrt.call @loops() : () -> i64
  %c, %d = tfrt.call @case(%n) : (i32) -> (i32, !tfrt.string)
  tfrt.return %c, %b, %d : i32, i64, !tfrt.string
}
