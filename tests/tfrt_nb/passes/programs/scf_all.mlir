// pipeline: builtin.module(convert-scf-to-cf)
// Each operation of scf as blocks.
func.func private @go_on(i64) -> i1
func.func private @next(i64) -> i64
func.func private @element(index) -> f32
func.func @branch(%c: i1, %a: i64, %b: i64) -> i64 {
  %x = scf.if %c -> (i64) {
    scf.yield %a : i64
  } else {
    scf.yield %b : i64
  }
  return %x : i64
}
func.func @while(%n: i64) -> i64 {
  %r = scf.while (%i = %n) : (i64) -> (i64) {
    %c = func.call @go_on(%i) : (i64) -> i1
    scf.condition(%c) %i : i64
  } do {
  ^bb0(%j: i64):
    %k = func.call @next(%j) : (i64) -> i64
    scf.yield %k : i64
  }
  return %r : i64
}
func.func @sum(%n: index, %z: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {
    %x = func.call @element(%i) : (index) -> f32
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      %y = arith.addf %l, %r : f32
      scf.reduce.return %y : f32
    }
  }
  return %s : f32
}
func.func @switch(%i: index, %a: i64, %b: i64) -> i64 {
  %x = scf.index_switch %i -> i64
  case 7 {
    scf.yield %a : i64
  }
  default {
    scf.yield %b : i64
  }
  return %x : i64
}
func.func @region(%a: i64) -> i64 {
  %x = scf.execute_region -> (i64) {
    scf.yield %a : i64
  }
  return %x : i64
}
