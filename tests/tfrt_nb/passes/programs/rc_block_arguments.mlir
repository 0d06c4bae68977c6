// pipeline: builtin.module(async-runtime-ref-counting)
// A token passed to a block belongs to its argument: passed on, passed and used afterwards, passed on one way only.
func.func @passed_on(%a: !async.token) {
  cf.br ^next(%a : !async.token)
^next(%b: !async.token):
  async.runtime.await %b : !async.token
  return
}
func.func @used_afterwards(%a: !async.token) {
  cf.br ^next(%a : !async.token)
^next(%b: !async.token):
  async.runtime.await %a : !async.token
  async.runtime.await %b : !async.token
  return
}
func.func @passed_twice(%a: !async.token) {
  cf.br ^next(%a, %a : !async.token, !async.token)
^next(%b: !async.token, %c: !async.token):
  async.runtime.await %b : !async.token
  async.runtime.await %c : !async.token
  return
}
func.func @one_way(%c: i1, %a: !async.token, %b: !async.token) {
  cf.cond_br %c, ^next(%a : !async.token), ^next(%b : !async.token)
^next(%d: !async.token):
  async.runtime.await %d : !async.token
  return
}
func.func private @make() -> !async.token
func.func @replaced_in_a_loop(%n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %first = call @make() : () -> !async.token
  cf.br ^head(%c0, %first : i64, !async.token)
^head(%i: i64, %t: !async.token):
  async.runtime.await %t : !async.token
  %new = call @make() : () -> !async.token
  %j = arith.addi %i, %c1 : i64
  %more = arith.cmpi slt, %j, %n : i64
  cf.cond_br %more, ^head(%j, %new : i64, !async.token), ^exit(%new : !async.token)
^exit(%last: !async.token):
  async.runtime.await %last : !async.token
  return
}
