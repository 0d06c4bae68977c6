// pipeline: builtin.module(async-runtime-ref-counting)
// A loop that carries a token is lowered first; one that only uses a token is not.
func.func private @make() -> !async.token
func.func @carried(%lo: index, %hi: index, %st: index, %a: !async.token) {
  %last = scf.for %i = %lo to %hi step %st iter_args(%t = %a) -> (!async.token) {
    async.runtime.await %t : !async.token
    %u = func.call @make() : () -> !async.token
    scf.yield %u : !async.token
  }
  async.runtime.await %last : !async.token
  return
}
func.func @used(%lo: index, %hi: index, %st: index, %a: !async.token) {
  scf.for %i = %lo to %hi step %st {
    async.runtime.await %a : !async.token
  }
  return
}
