// A group that nobody fills is an error where it was made, not a run without an end.
// call: main
// result: i32 error 'the group waits forever: it has only 1 of 2 members'
// error: the group waits forever: it has only 1 of 2 members, at %g = async.create_group %two : !async.group
func.func @main() -> i32 {
  %x = tfrt.call @short() : () -> i32
  tfrt.return %x : i32
}
async.func @short() -> !async.value<i32> {
  %two = arith.constant 2 : index
  %g = async.create_group %two : !async.group
  %t = async.execute {
    async.yield
  }
  %r = async.add_to_group %t, %g : !async.token
  async.await_all %g
  %x = arith.constant 1 : i32
  return %x : i32
}
