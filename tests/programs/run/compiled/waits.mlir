// Tasks that wait for what comes late, groups that no task awaits: each ends well.
func.func @waits_in_a_call() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %waiting, %size = async.execute -> !async.value<i64> {
    %n, %t = func.call @wait_for(%g) : (!async.group) -> (i64, !async.token)
    async.await %t : !async.token
    async.yield %n : i64
  }
  %ready = async.execute {
    async.yield
  }
  async.await %ready : !async.token
  %rank = async.add_to_group %ready, %g : !async.token
  %n = async.await %size : !async.value<i64>
  call @printI64(%n) : (i64) -> ()
  return
}
func.func private @wait_for(%g: !async.group) -> (i64, !async.token) {
  async.await_all %g
  %seven = arith.constant 7 : i64
  %t = async.execute {
    async.yield
  }
  return %seven, %t : i64, !async.token
}

func.func @waits_at_once() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %waiting, %size = async.execute -> !async.value<i64> {
    async.runtime.await %g : !async.group
    %n = arith.constant 7 : i64
    async.yield %n : i64
  }
  %ready = async.execute {
    async.yield
  }
  async.await %ready : !async.token
  %rank = async.add_to_group %ready, %g : !async.token
  %n = async.await %size : !async.value<i64>
  call @printI64(%n) : (i64) -> ()
  return
}

// A group waits in vain: no task awaits it.
func.func @no_task_awaits() {
  %two = arith.constant 2 : index
  %t = async.execute {
    %g = async.create_group %two : !async.group
    %u = async.execute {
      async.yield
    }
    %r = async.add_to_group %u, %g : !async.token
    async.await_all %g
    async.yield
  }
  return
}

func.func @no_task_awaits_the_cycle() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %h = async.create_group %one : !async.group
  %t = async.execute {
    async.await_all %h
    async.yield
  }
  %u = async.execute {
    async.await_all %g
    async.yield
  }
  %a = async.add_to_group %t, %g : !async.token
  %b = async.add_to_group %u, %h : !async.token

  return
}

// A reference that the program takes and drops itself.
func.func @counted_and_awaited() {
  %t = async.runtime.create : !async.token
  async.runtime.set_available %t : !async.token
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// The least number by minus one wraps around.
func.func @divided() {
  %least = arith.constant -9223372036854775808 : i64
  %minus = arith.constant -1 : i64
  %q = call @divide(%least, %minus) : (i64, i64) -> i64
  call @printI64(%q) : (i64) -> ()
  return
}
func.func @divide(%a: i64, %b: i64) -> i64 {
  %q = arith.divsi %a, %b : i64
  return %q : i64
}

// Buffers on the stack outlive a suspension, and do not overflow it.
func.func @buffers() {
  %n = arith.constant 8 : index
  %t = async.execute {
    func.call @work(%n) : (index) -> ()
    async.yield
  }
  async.await %t : !async.token
  return
}
func.func private @work(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 100000 : index
  %one = arith.constant 1 : i64
  %sum = memref.alloca() : memref<i64>
  memref.store %one, %sum[] : memref<i64>
  scf.for %i = %c0 to %many step %c1 {
    %small = memref.alloca() : memref<64xi64>
    %dynamic = memref.alloca(%n) : memref<?xi64>
    memref.store %one, %small[%c0] : memref<64xi64>
    memref.store %one, %dynamic[%c1] : memref<?xi64>
    %a = memref.load %small[%c0] : memref<64xi64>
    %b = memref.load %dynamic[%c1] : memref<?xi64>
    %c = memref.load %sum[] : memref<i64>
    %d = arith.addi %a, %b : i64
    %e = arith.addi %c, %d : i64
    memref.store %e, %sum[] : memref<i64>
  }
  %u = async.execute {
    async.yield
  }
  async.await %u : !async.token
  %s = memref.load %sum[] : memref<i64>
  call @printI64(%s) : (i64) -> ()
  return
}

func.func @main() {
  call @waits_in_a_call() : () -> ()
  call @printNewline() : () -> ()
  call @waits_at_once() : () -> ()
  call @printNewline() : () -> ()
  call @no_task_awaits() : () -> ()
  call @printNewline() : () -> ()
  call @no_task_awaits_the_cycle() : () -> ()
  call @printNewline() : () -> ()
  call @counted_and_awaited() : () -> ()
  call @printNewline() : () -> ()
  call @divided() : () -> ()
  call @printNewline() : () -> ()
  call @buffers() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
