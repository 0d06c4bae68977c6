// Functions as values: called at once, chosen, passed on, captured by tasks, awaited, and called by themselves.

func.func @add(%a: i32, %b: i32) -> i32 {
  %r = arith.addi %a, %b : i32
  return %r : i32
}
func.func @sub(%a: i32, %b: i32) -> i32 {
  %r = arith.subi %a, %b : i32
  return %r : i32
}
func.func @mul(%a: i32, %b: i32) -> i32 {
  %r = arith.muli %a, %b : i32
  return %r : i32
}
func.func @none() {
  return
}
func.func @apply(%f: (i32, i32) -> i32, %a: i32, %b: i32) -> i32 {
  %r = call_indirect %f(%a, %b) : (i32, i32) -> i32
  return %r : i32
}
async.func @later(%f: (i32, i32) -> i32, %a: i32) -> !async.value<i32> {
  %r = func.call_indirect %f(%a, %a) : (i32, i32) -> i32
  return %r : i32
}
func.func @down(%n: i32, %m: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.cmpi eq, %n, %zero : i32
  %r = scf.if %end -> i32 {
    scf.yield %m : i32
  } else {
    %self = func.constant @down : (i32, i32) -> i32
    %less = arith.subi %n, %one : i32
    %more = arith.addi %m, %n : i32
    %s = func.call_indirect %self(%less, %more) : (i32, i32) -> i32
    scf.yield %s : i32
  }
  return %r : i32
}
func.func @main() {
  %six = arith.constant 6 : i32
  %two = arith.constant 2 : i32
  %true = arith.constant true
  %false = arith.constant false
  %mul = func.constant @mul : (i32, i32) -> i32
  %a = func.call_indirect %mul(%six, %two) : (i32, i32) -> i32
  vector.print %a : i32
  %b = call @apply(%mul, %six, %two) : ((i32, i32) -> i32, i32, i32) -> i32
  vector.print %b : i32
  %add = constant @add : (i32, i32) -> i32
  %sub = constant @sub : (i32, i32) -> i32
  %f = arith.select %true, %add, %sub : (i32, i32) -> i32
  %g = scf.if %false -> ((i32, i32) -> i32) {
    scf.yield %add : (i32, i32) -> i32
  } else {
    scf.yield %sub : (i32, i32) -> i32
  }
  %c = call_indirect %f(%six, %two) : (i32, i32) -> i32
  vector.print %c : i32
  %d = call_indirect %g(%six, %two) : (i32, i32) -> i32
  vector.print %d : i32
  %token, %value = async.execute -> !async.value<(i32, i32) -> i32> {
    %e = func.call_indirect %g(%two, %six) : (i32, i32) -> i32
    vector.print %e : i32
    async.yield %f : (i32, i32) -> i32
  }
  %h = async.await %value : !async.value<(i32, i32) -> i32>
  %i = call_indirect %h(%two, %two) : (i32, i32) -> i32
  vector.print %i : i32
  %soon = async.call @later(%mul, %six) : ((i32, i32) -> i32, i32) -> !async.value<i32>
  %j = async.await %soon : !async.value<i32>
  vector.print %j : i32
  %hundred = arith.constant 100 : i32
  %zero = arith.constant 0 : i32
  %k = call @down(%hundred, %zero) : (i32, i32) -> i32
  vector.print %k : i32
  %none = constant @none : () -> ()
  call_indirect %none() : () -> ()
  %only = call @only(%true) : (i1) -> ((i32, i32) -> i32)
  %l = call_indirect %only(%two, %six) : (i32, i32) -> i32
  vector.print %l : i32
  return
}
// A function is the only result: its type has parentheses of its own.
func.func @only(%is_add: i1) -> ((i32, i32) -> i32) {
  %add = constant @add : (i32, i32) -> i32
  %sub = constant @sub : (i32, i32) -> i32
  %f = arith.select %is_add, %add, %sub : (i32, i32) -> i32
  return %f : (i32, i32) -> i32
}
