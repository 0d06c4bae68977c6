func @work(%x: i64) { call @printI64(%x) : (i64) -> () return }
func @first(%rt: !async.runtime, %n: i64) -> !async.handle {
  %h = async.call %rt : !async.runtime @work(%n) : (i64) -> !async.handle
  async.await %h : !async.handle
  %done = async.ret_handle : !async.handle
  return %done : !async.handle
}
func @main() {
  %rt = async.default_runtime : !async.runtime
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %h1 = call @first(%rt, %one) : (!async.runtime, i64) -> !async.handle
  async.sync_await %h1 : !async.handle
  %h2 = async.region %rt {
    call @printI64(%two) : (i64) -> ()
    async.yield
  }
  %h3 = async.region [%h2] {
    call @printI64(%three) : (i64) -> ()
    async.yield
  }
  async.sync_await %h3 : !async.handle
  return
}
func private @printI64(i64)
