// pipeline: builtin.module(convert-async-to-llvm)
func.func @arguments(%c: i1, %t: !async.token, %q: !async.token) -> !async.token {
  %u = async.runtime.create : !async.token
  cf.cond_br %c, ^bb1(%t : !async.token), ^bb1(%u : !async.token)
^bb1(%p: !async.token):
  async.runtime.await %p : !async.token
  return %p : !async.token
}
func.func @choices(%c: i1) {
  %u = async.runtime.create : !async.token
  cf.br ^bb1(%u : !async.token)
^bb1(%p: !async.token):
  async.runtime.await %p : !async.token
  %s = arith.select %c, %u, %p : !async.token
  async.runtime.await %s : !async.token
  return
}
func.func @structured(%c: i1) {
  %u = async.runtime.create : !async.token
  %v = async.runtime.create : !async.token
  %s = arith.select %c, %u, %v : !async.token
  async.runtime.await %s : !async.token
  %w = scf.if %c -> !async.token {
    scf.yield %u : !async.token
  } else {
    scf.yield %v : !async.token
  }
  async.runtime.await %w : !async.token
  %lb = arith.constant 0 : index
  %st = arith.constant 1 : index
  %r = scf.for %i = %lb to %st step %st iter_args(%a = %w) -> (!async.token) {
    async.runtime.await %a : !async.token
    %z = async.runtime.create : !async.token
    scf.yield %z : !async.token
  }
  %r2:2 = scf.while (%a = %r) : (!async.token) -> (!async.token, i32) {
    async.runtime.await %a : !async.token
    %k = arith.constant 1 : i32
    scf.condition(%c) %a, %k : !async.token, i32
  } do {
  ^bb0(%b : !async.token, %j: i32):
    scf.yield %b : !async.token
  }
  async.runtime.await %r2#0 : !async.token
  %ex = scf.execute_region -> !async.token {
     scf.yield %u : !async.token
  }
  %sw = scf.index_switch %lb -> !async.token
  case 1 { 
     scf.yield %u : !async.token
  }
  default { 
     scf.yield %v : !async.token
  }
  async.runtime.await %sw : !async.token
  async.runtime.await %ex : !async.token
  return
}

func.func @switched(%flag: i32, %t: !async.token) -> !async.token {
  cf.switch %flag : i32, [
    default: ^rest(%t : !async.token),
    1: ^rest(%t : !async.token)
  ]
^nowhere:
  cf.br ^rest(%t : !async.token)
^rest(%u: !async.token):
  return %u : !async.token
}
