// pipeline: builtin.module(async-runtime-ref-counting)
// Each use counts: twice in one call, returned twice.
func.func private @take_both(!async.token, !async.token)
func.func @twice_in_a_call(%a: !async.token) {
  call @take_both(%a, %a) : (!async.token, !async.token) -> ()
  return
}
func.func @returned_twice(%a: !async.token) -> (!async.token, !async.token) {
  return %a, %a : !async.token, !async.token
}
