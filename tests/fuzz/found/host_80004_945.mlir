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
  %two = tfrt.constant.i32 2 : i32
  %true = arith.constant true
  %false = arith.constant false
  %mul = func.constant @mul : (i32, i32) -> i32
  %b = call @apply(%mul, %six, %two) : ((i32, i32) -> i32, i32, i32) -> i32
  %add = constant @add : (i32, i32) -> i32
  %sub = constant @sub : (i32, i32) -> i32
  %f = arith.select %true, %add, %sub : (i32, i32) -> i32
  %g = scf.if %false -> ((i32, i32) -> i32) {
    scf.yield %add : (i32, i32) -> i32
  } else {
    scf.yield %sub : (i32, i32) -> i32
  }
  %token, %value = async.execute -> !async.value<(i32, i32) -> i32> {
    async.yield %f : (i32, i32) -> i32
  }
  return
}