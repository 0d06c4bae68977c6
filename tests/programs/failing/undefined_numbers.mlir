// A shift by all bits has no value in MLIR, nor has a float that does not fit.
func.func @main() -> i32 {
  %one = arith.constant 1 : i32
  %all = arith.constant 32 : i32
  %r = arith.shli %one, %all : i32
  return %r : i32
}
// -----
func.func private @moved(%x: i64, %by: i64) -> i64 {
  %r = arith.shrui %x, %by : i64
  return %r : i64
}
func.func @main() -> i64 {
  %x = arith.constant 8 : i64
  %back = arith.constant -1 : i64
  %r = func.call @moved(%x, %back) : (i64, i64) -> i64
  return %r : i64
}
// -----
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c70 = arith.constant 70 : index
  %t = async.execute {
    scf.for %i = %c0 to %c70 step %c1 {
      %r = arith.shrsi %c70, %i : index
    }
    async.yield
  }
  async.await %t : !async.token
  return
}
// -----
func.func @main() -> i32 {
  %big = arith.constant 2147483648.0 : f64
  %r = arith.fptosi %big : f64 to i32
  return %r : i32
}
// -----
func.func private @whole(%x: f32) -> i64 {
  %r = arith.fptosi %x : f32 to i64
  return %r : i64
}
func.func @main() -> i64 {
  %no_number = arith.constant 0x7FC00000 : f32
  %r = func.call @whole(%no_number) : (f32) -> i64
  return %r : i64
}
// -----
func.func @main() -> i8 {
  %below = arith.constant -1.0 : f16
  %r = arith.fptoui %below : f16 to i8
  return %r : i8
}
