// Programs of which functions are compiled.
func.func @cast_of_a_buffer() {
  %m = memref.alloc() : memref<4xi32>
  %i = arith.index_cast %m : memref<4xi32> to index
  return
}

// -----

func.func @main() -> !async.group {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  return %g : !async.group
}

// -----

func.func @f() {
  return
}
func.func @main() -> (() -> ()) {
  %f = constant @f : () -> ()
  return %f : () -> ()
}

// -----

func.func @main() -> !async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<!async.value<i32>>>>>>>>>>>>>>>>>>>>>>>> {
  %c = arith.constant 1 : i32
  return %c : i32
}

// -----

func.func private @nowhere()
func.func @main() {
  call @nowhere() : () -> ()
  return
}

// -----

func.func @main() {
  %x = arith.constant 1 : index
  %v = "math.isnan"(%x) : (index) -> i1
  return
}
// -----
// A task yields what values hold.
func.func @main() {
  %t, %v = async.execute -> !async.value<i32> {
    %u, %w = async.execute -> !async.value<i32> {
      %c = arith.constant 3 : i32
      async.yield %c : i32
    }
    async.yield %w : !async.value<i32>
  }
  return
}
// -----
func.func @main(%w: !async.value<i32>) {
  %t = "async.execute"(%w) <{operandSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%a: !async.value<i32>):
    "async.yield"() : () -> ()
  }) : (!async.value<i32>) -> (!async.token)
  return
}
// -----
func.func @main(%c: i1, %x: i32) {
  %v = scf.if %c -> !async.value<i32> {
    scf.yield %x : i32
  } else {
    scf.yield %x : i32
  }
  return
}
// -----
func.func @main(%c: i1, %w: !async.value<i32>) {
  %r = scf.while (%a = %w) : (!async.value<i32>) -> i32 {
    scf.condition(%c) %a : !async.value<i32>
  } do {
  ^bb0(%b: i32):
    scf.yield %w : !async.value<i32>
  }
  return
}
// -----
// An operation of a user gives a handle.
func.func @main() {
  %x = arith.constant 5 : i64
  %memory, %copied = "my.copy_to_device"(%x) : (i64) -> (i64, !async.handle)
  async.await %copied : !async.handle
  return
}
// -----
// An operation of a user in a task.
func.func @main() {
  %m = memref.alloc() : memref<4xi64>
  %t = async.execute {
    "my.operation_between_loops"(%m) : (memref<4xi64>) -> ()
    async.yield
  }
  async.await %t : !async.token
  return
}
