// Host functions that call compiled ones, and have regions of compiled code.
func.func private @printI64(i64)
func.func @main() -> i32 {
  %x = tfrt.constant.i32 20
  %y = tfrt.call @twice(%x) : (i32) -> i32
  %z = tfrt.jit (%y as %a: i32) -> i32 {
    %two = arith.constant 2 : i32
    %b = arith.addi %a, %two : i32
    tfrt.return %b : i32
  }
  tfrt.return %z : i32
}
async.func private @twice(%x: i32) -> !async.value<i32> {
  %seven = arith.constant 7 : i64
  %t, %v = async.execute -> !async.value<i32> {
    func.call @printI64(%seven) : (i64) -> ()
    %y = arith.addi %x, %x : i32
    async.yield %y : i32
  }
  %r = await %v : !async.value<i32>
  return %r : i32
}
// An error may be expected within such a region, or points there.
func.func @expected() -> i32 {
  %x = tfrt.constant.i32 0
  %y = tfrt.jit (%x as %a: i32) -> i32 {
    %b = arith.divsi %a, %a : i32 // expected-error {{division by zero}}
    tfrt.return %b : i32
  }
  tfrt.return %y : i32
}
func.func @unexpected() -> i32 {
  %x = tfrt.constant.i32 0
  %y = tfrt.jit (%x as %a: i32) -> i32 {
    %b = arith.remsi %a, %a : i32
    tfrt.return %b : i32
  }
  tfrt.return %y : i32
}
