// pipeline: builtin.module(canonicalize)
// Loops that run never or once, branches with known conditions or unused results, nested ones.
func.func private @use(index)
func.func private @get() -> index
func.func @loops(%n: index, %c: i1) -> (index, index, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %a = scf.for %i = %five to %zero step %one iter_args(%s = %n) -> (index) {
    %t = func.call @get() : () -> index
    scf.yield %t : index
  }
  %b = scf.for %i = %zero to %five step %five iter_args(%s = %n) -> (index) {
    %t = func.call @get() : () -> index
    %u = arith.addi %t, %s : index
    scf.yield %u : index
  }
  %d, %e = scf.for %i = %zero to %n step %one iter_args(%s = %zero, %t = %five) -> (index, index) {
    %v = func.call @get() : () -> index
    scf.yield %s, %v : index, index
  }
  scf.parallel (%i, %j) = (%zero, %five) to (%n, %n) step (%one, %one) {
    scf.parallel (%k) = (%zero) to (%one) step (%one) {
      func.call @use(%j) : (index) -> ()
    }
  }
  scf.execute_region {
    func.call @use(%d) : (index) -> ()
    scf.yield
  }
  return %a, %b, %e : index, index, index
}
func.func @branches(%c: i1, %d: i1, %x: index, %y: index) -> (index, index) {
  %true = arith.constant true
  %no = arith.xori %c, %true : i1
  %a = scf.if %no -> (index) {
    scf.yield %x : index
  } else {
    scf.yield %y : index
  }
  %b, %u = scf.if %c -> (index, index) {
    %t = func.call @get() : () -> index
    scf.yield %t, %x : index, index
  } else {
    scf.if %c {
      func.call @use(%x) : (index) -> ()
    }
    scf.yield %x, %y : index, index
  }
  scf.if %c {
    scf.if %d {
      func.call @use(%y) : (index) -> ()
    }
  } else {
  }
  return %a, %b : index, index
}
func.func @whiles(%x: index, %n: index) -> index {
  %one = arith.constant 1 : index
  %r, %s = scf.while (%i = %x, %k = %n) : (index, index) -> (index, index) {
    %more = arith.cmpi slt, %i, %k : index
    scf.condition(%more) %i, %n : index, index
  } do {
  ^bb0(%i: index, %k: index):
    %again = arith.cmpi slt, %i, %n : index
    %step = arith.select %again, %one, %k : index
    %next = arith.addi %i, %step : index
    scf.yield %next, %k : index, index
  }
  return %r : index
}
