// pipeline: builtin.module(async-call-directly)
// A function that never waits is called directly where its results are only awaited, tasks included; a
// caller that then waits for nothing is, too.
async.func @twice(%x: i64) -> !async.value<i64> {
  %y = arith.addi %x, %x : i64
  return %y : i64
}
async.func private @four_times(%x: i64) -> (!async.token, !async.value<i64>) {
  %v = async.call @twice(%x) : (i64) -> !async.value<i64>
  %w = async.call @twice(%x) : (i64) -> !async.value<i64>
  %a = async.await %v : !async.value<i64>
  %b = async.await %w : !async.value<i64>
  %y = arith.addi %a, %b : i64
  return %y : i64
}
func.func private @printI64(i64)
func.func @main(%x: i64) -> i64 {
  %t, %v = async.call @four_times(%x) : (i64) -> (!async.token, !async.value<i64>)
  func.call @printI64(%x) : (i64) -> ()
  %done = async.execute {
    %y = async.await %v : !async.value<i64>
    %w = async.call @twice(%y) : (i64) -> !async.value<i64>
    %z = async.await %w : !async.value<i64>
    func.call @printI64(%z) : (i64) -> ()
    async.yield
  }
  async.await %t : !async.token
  %y = async.await %v : !async.value<i64>
  async.await %done : !async.token
  return %y : i64
}

// What can fail does so at the await: a direct call takes its place only if nothing happens before.
async.func private @checked(%x: i64) -> !async.value<i64> {
  %zero = arith.constant 0 : i64
  %ok = arith.cmpi sge, %x, %zero : i64
  cf.assert %ok, "negative"
  return %x : i64
}
func.func @at_once(%x: i64) -> i64 {
  %v = async.call @checked(%x) : (i64) -> !async.value<i64>
  %one = arith.constant 1 : i64
  %y = async.await %v : !async.value<i64>
  %z = arith.addi %y, %one : i64
  return %z : i64
}
func.func @printed_first(%x: i64) -> i64 {
  %v = async.call @checked(%x) : (i64) -> !async.value<i64>
  func.call @printI64(%x) : (i64) -> ()
  %y = async.await %v : !async.value<i64>
  return %y : i64
}
func.func @never_awaited(%x: i64) {
  %v = async.call @checked(%x) : (i64) -> !async.value<i64>
  return
}
// It can fail by what it calls, too.
func.func private @check(%ok: i1) {
  cf.assert %ok, "not ok"
  return
}
async.func @checks(%ok: i1) -> !async.token {
  func.call @check(%ok) : (i1) -> ()
  return
}
func.func @two(%ok: i1) {
  %t = async.call @checks(%ok) : (i1) -> !async.token
  %u = async.call @checks(%ok) : (i1) -> !async.token
  async.await %t : !async.token
  async.await %u : !async.token
  return
}

// Left as they are: results with other uses, functions that wait, recursive functions, objects in values.
func.func @returned(%x: i64) -> !async.value<i64> {
  %v = async.call @twice(%x) : (i64) -> !async.value<i64>
  return %v : !async.value<i64>
}
async.func @waits(%t: !async.token) -> !async.token {
  async.await %t : !async.token
  return
}
async.func @forever(%x: i64) -> !async.token {
  %t = async.call @forever(%x) : (i64) -> !async.token
  return
}
async.func @wrapped(%t: !async.token) -> !async.value<!async.token> {
  return %t : !async.token
}
func.func @others(%x: i64, %t: !async.token) {
  %u = async.call @waits(%t) : (!async.token) -> !async.token
  async.await %u : !async.token
  %v = async.call @forever(%x) : (i64) -> !async.token
  async.await %v : !async.token
  %w = async.call @wrapped(%t) : (!async.token) -> !async.value<!async.token>
  %i = async.await %w : !async.value<!async.token>
  return
}
