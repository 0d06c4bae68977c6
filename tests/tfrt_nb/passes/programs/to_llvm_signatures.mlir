// pipeline: builtin.module(convert-async-to-llvm)
func.func private @p(!async.token) -> (!async.token {a.b}) attributes {x.y = 2}
func.func @free_is_there(%t: !async.token)  {
  %id = async.coro.id
  %h = async.coro.begin %id
  async.coro.free %id, %h
  return
}
llvm.func @free(!llvm.ptr)
func.func @attributes(%u: !async.token {foo.bar}, %n: index {foo.bar = 1}) -> (!async.token {foo.baz}) attributes {foo.list = [1, 2]} {
  async.runtime.add_ref %u {count = 2 : i64, foo = 3} : !async.token
  return {foo = 2} %u : !async.token
}
func.func private @mlirAsyncRuntimeDropRef(!llvm.ptr, i64) attributes {foo.bar}
