// pipeline: builtin.module(async-to-async-runtime{token-last keep-errors},async-propagate-failures)
// Errors keep their reason: of an assertion, of what was awaited, of a plain function that fails.
func.func @check(%x: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %ok = arith.cmpi ne, %x, %zero : i64
  cf.assert %ok, "zero"
  return %x : i64
}
func.func @task(%v: !async.value<i64>) -> !async.token {
  %t = async.execute (%v as %x: !async.value<i64>) {
    %y = func.call @check(%x) : (i64) -> i64
    async.yield
  }
  async.await %t : !async.token
  return %t : !async.token
}
