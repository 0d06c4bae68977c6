// Regions of a host program as machine code: plain, with tasks, without results, and in a loop.
// call: main 5
// result: i32 available 10
// result: i32 available 15
// result: i32 available 8
// output: 42
func.func private @printI64(i64)
func.func @main(%x: i32) -> (i32, i32, i32) {
  %y = tfrt.jit (%x as %a: i32) -> i32 {
    %d = arith.addi %a, %a : i32
    tfrt.return %d : i32
  }
  %c, %z = tfrt.jit (%y as %v: !async.value<i32>, %x as %b: i32) -> (!async.token, i32) {
    %d = async.await %v : !async.value<i32>
    %t, %e = async.execute -> !async.value<i32> {
      %s = arith.addi %d, %b : i32
      async.yield %s : i32
    }
    %r = async.await %e : !async.value<i32>
    tfrt.return %r : i32
  }
  tfrt.jit {
    %k = arith.constant 42 : i64
    func.call @printI64(%k) : (i64) -> ()
    tfrt.return
  }
  %n = tfrt.constant.i32 3
  %one = tfrt.constant.i32 1
  %p = tfrt.repeat.i32 %n, %one : i32 {
    %q = tfrt.jit (%one as %a: i32) -> i32 {
      %d = arith.addi %a, %a : i32
      tfrt.return %d : i32
    }
    tfrt.return %q : i32
  }
  tfrt.return %y, %z, %p : i32, i32, i32
}
