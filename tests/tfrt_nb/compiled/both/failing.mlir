// A failed assertion is the error of the results, with its place; what depends on them is skipped.
// call: plain 21
// result: i32 error 'too large'
// result: i32 error 'too large'
// result: i32 available 21
// error: too large, at cf.assert %ok, "too large"
// call: async 21
// result: !tfrt.chain error 'too large'
// result: i32 error 'too large'
// error: too large, at cf.assert %ok, "too large"
func.func @plain(%x: i32) -> (i32, i32, i32) {
  %y = tfrt.call @check(%x) : (i32) -> i32
  %z = tfrt.add.i32 %y, %x
  tfrt.return %y, %z, %x : i32, i32, i32
}
func.func @async(%x: i32) -> (!tfrt.chain, i32) {
  %c, %y = tfrt.call @async_check(%x) : (i32) -> (!tfrt.chain, i32)
  tfrt.return %c, %y : !tfrt.chain, i32
}
func.func @check(%x: i32) -> i32 {
  %ok = func.call @is_small(%x) : (i32) -> i1
  cf.assert %ok, "too large"
  return %x : i32
}
async.func @async_check(%x: i32) -> (!async.token, !async.value<i32>) {
  %ok = func.call @is_small(%x) : (i32) -> i1
  %t = async.execute {
    cf.assert %ok, "too large"
    async.yield
  }
  await %t : !async.token
  return %x : i32
}
func.func private @is_small(%x: i32) -> i1 {
  %ten = arith.constant 10 : i32
  %ok = arith.cmpi slt, %x, %ten : i32
  return %ok : i1
}
