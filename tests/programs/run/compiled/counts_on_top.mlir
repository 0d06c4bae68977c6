// References that a program adds and drops itself come on top of those that are counted for it, also where its tasks are spawns
// before the counting and nothing else waits.
func.func @main() -> i64 {
  %t = async.execute {
    async.yield
  }
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r:2 = scf.while (%n = %zero, %u = %t) : (i64, !async.token) -> (i64, !async.token) {
    async.runtime.add_ref %u {count = 1 : i64} : !async.token
    async.runtime.drop_ref %u {count = 1 : i64} : !async.token
    %more = arith.cmpi slt, %n, %one : i64
    scf.condition(%more) %n, %u : i64, !async.token
  } do {
  ^bb0(%n: i64, %u: !async.token):
    %next = arith.addi %n, %one : i64
    scf.yield %next, %t : i64, !async.token
  }
  return %r#0 : i64
}

func.func @member() {
  %size = arith.constant 1 : index
  %g = async.create_group %size : !async.group
  %t = async.execute {
    async.yield
  }
  %rank = async.add_to_group %t, %g : !async.token
  async.runtime.add_ref %g {count = 1 : i64} : !async.group
  async.runtime.drop_ref %g {count = 1 : i64} : !async.group
  return
}
