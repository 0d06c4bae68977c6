// pipeline: builtin.module(async-runtime-ref-counting)
// Two awaits lead to one error block: the result is given up once on every way, the awaited ones too.
func.func @join(%r: !async.token, %a: !async.token, %b: !async.token) -> !async.token {
  async.runtime.await %a : !async.token
  %e = async.runtime.is_error %a : !async.token
  cf.cond_br %e, ^error, ^next
^next:
  async.runtime.await %b : !async.token
  %f = async.runtime.is_error %b : !async.token
  cf.cond_br %f, ^error, ^done
^done:
  async.runtime.set_available %r : !async.token
  cf.br ^end
^error:
  async.runtime.set_error %r : !async.token
  cf.br ^end
^end:
  return %r : !async.token
}
