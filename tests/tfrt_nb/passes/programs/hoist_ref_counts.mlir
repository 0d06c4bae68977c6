// pipeline: builtin.module(async-hoist-ref-counts)
func.func private @take(!async.token)
// A known number of rounds is the count: nested loops multiply, and a loop without rounds takes nothing.
func.func @known(%t: !async.token) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %ten = arith.constant 10 : index
  scf.for %i = %zero to %ten step %three {
    scf.for %j = %one to %three step %one {
      async.runtime.add_ref %t {count = 1 : i64} : !async.token
      func.call @take(%t) : (!async.token) -> ()
      async.runtime.add_ref %t {count = 2 : i64} : !async.token
      func.call @take(%t) : (!async.token) -> ()
      func.call @take(%t) : (!async.token) -> ()
    }
  }
  scf.for %i = %ten to %zero step %one {
    async.runtime.add_ref %t {count = 1 : i64} : !async.token
    func.call @take(%t) : (!async.token) -> ()
  }
  return
}
// An unknown number is computed; the bounds of the second loop are so far apart that their difference wraps.
func.func @unknown(%t: !async.token, %lower: index, %upper: index, %from: i32, %to: i32) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : i32
  scf.for %i = %lower to %upper step %one {
    async.runtime.add_ref %t {count = 3 : i64} : !async.token
    func.call @take(%t) : (!async.token) -> ()
    func.call @take(%t) : (!async.token) -> ()
    func.call @take(%t) : (!async.token) -> ()
  }
  scf.for %i = %from to %to step %two : i32 {
    async.runtime.add_ref %t {count = 1 : i64} : !async.token
    func.call @take(%t) : (!async.token) -> ()
  }
  return
}
// Counts stay: of what a round makes, under a condition, where the loop may be left, and with an unknown step.
func.func @staying(%t: !async.token, %c: i1, %step: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  scf.for %i = %zero to %ten step %one {
    %made = async.runtime.create : !async.token
    async.runtime.add_ref %made {count = 1 : i64} : !async.token
    func.call @take(%made) : (!async.token) -> ()
    scf.if %c {
      async.runtime.add_ref %t {count = 1 : i64} : !async.token
      func.call @take(%t) : (!async.token) -> ()
    }
  }
  scf.for %i = %zero to %ten step %one {
    async.runtime.check_interrupt
    async.runtime.add_ref %t {count = 1 : i64} : !async.token
    func.call @take(%t) : (!async.token) -> ()
  }
  scf.for %i = %zero to %ten step %step {
    async.runtime.add_ref %t {count = 1 : i64} : !async.token
    func.call @take(%t) : (!async.token) -> ()
  }
  return
}
