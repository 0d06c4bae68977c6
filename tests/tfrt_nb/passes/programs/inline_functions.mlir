// pipeline: builtin.module(inline)
// Callees first and canonicalized; nothing of async is moved, and nothing into a task.
func.func private @use(i32)
func.func private @twice(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
func.func private @four_times(%x: i32) -> i32 {
  %y = call @twice(%x) : (i32) -> i32
  %z = call @twice(%y) : (i32) -> i32
  return %z : i32
}
func.func private @blocks(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%x) : (i32) -> ()
  return %x : i32
^b:
  %zero = arith.constant 0 : i32
  return %zero : i32
}
func.func private @unused(%x: i32) -> i32 {
  %y = call @twice(%x) : (i32) -> i32
  return %y : i32
}
func.func private @waits(%t: !async.token) {
  async.await %t : !async.token
  return
}
func.func @recursive(%x: i32) -> i32 {
  %y = call @recursive(%x) : (i32) -> i32
  return %y : i32
}
func.func @main(%c: i1, %n: index) -> (i32, i32) {
  %three = arith.constant 3 : i32
  %a = call @four_times(%three) : (i32) -> i32
  %b = call @blocks(%c, %a) : (i1, i32) -> i32
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %d = func.call @twice(%b) : (i32) -> i32
    func.call @use(%d) : (i32) -> ()
  }
  %t = async.execute {
    %e = func.call @twice(%b) : (i32) -> i32
    func.call @use(%e) : (i32) -> ()
    async.yield
  }
  call @waits(%t) : (!async.token) -> ()
  %r = call @recursive(%b) : (i32) -> i32
  return %a, %r : i32, i32
}
