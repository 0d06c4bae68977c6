func @job(%rt: !async.runtime, %c: i1) -> !async.handle {
  cf.cond_br %c, ^a, ^b
^a:
  %one = arith.constant 1 : i64
  call @show(%one) : (i64) -> ()
  %h = async.ret_handle : !async.handle
  return %h : !async.handle
^b:
  %two = arith.constant 2 : i64
  call @show(%two) : (i64) -> ()
  %k = async.ret_handle : !async.handle
  return %k : !async.handle
}
func @main() {
  %rt = async.default_runtime : !async.runtime
  %t = arith.constant true
  %f = arith.constant false
  %h = call @job(%rt, %t) : (!async.runtime, i1) -> !async.handle
  async.sync_await %h : !async.handle
  %k = call @job(%rt, %f) : (!async.runtime, i1) -> !async.handle
  async.sync_await %k : !async.handle
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
