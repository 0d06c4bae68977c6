// pipeline: builtin.module(convert-async-to-llvm)
func.func @coro(%t: !async.token) -> (!async.token, !async.value<f32>) attributes {passthrough = ["presplitcoroutine"]} {
  %a = async.runtime.create : !async.token
  %b = async.runtime.create : !async.value<f32>
  %id = async.coro.id
  %h = async.coro.begin %id
  %s = async.coro.save %h
  async.runtime.resume %h
  async.coro.suspend %s, ^suspend, ^resume, ^cleanup
^resume:
  %s2 = async.coro.save %h
  async.runtime.await_and_resume %t, %h : !async.token
  async.coro.suspend %s2, ^suspend, ^resume2, ^cleanup
^resume2:
  async.runtime.set_available %a : !async.token
  cf.br ^cleanup
^cleanup:
  async.coro.free %id, %h
  cf.br ^suspend
^suspend:
  async.coro.end %h
  return %a, %b : !async.token, !async.value<f32>
}

func.func @awaiting(%v: !async.value<f32>, %g: !async.group, %h: !async.coro.handle) {
  async.runtime.await_and_resume %v, %h : !async.value<f32>
  async.runtime.await_and_resume %g, %h : !async.group
  return
}
