// parallel-for: num-workers=3 min-task-size=1
// A loop that ends by a condition, with an await.
async.func @count(%n: i64) -> !async.value<i64> {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r:2 = scf.while (%i = %n, %s = %z) : (i64, i64) -> (i64, i64) {
    %more = arith.cmpi sgt, %i, %z : i64
    scf.condition(%more) %i, %s : i64, i64
  } do {
  ^bb0(%j: i64, %q: i64):
    %t, %v = async.execute -> !async.value<i64> {
      %x = arith.muli %j, %j : i64
      async.yield %x : i64
    }
    %x = await %v : !async.value<i64>
    %k = arith.subi %j, %one : i64
    %w = arith.addi %q, %x : i64
    scf.yield %k, %w : i64, i64
  }
  return %r#1 : i64
}
func.func @count_down() {
  %n = arith.constant 4 : i64
  %v = async.call @count(%n) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  call @printI64(%x) : (i64) -> ()
  return
}

// A choice between two futures.
func.func @choice() {
  %yes = arith.constant true
  %a = arith.constant 5 : i64
  %b = arith.constant 6 : i64
  %v = scf.if %yes -> (!async.value<i64>) {
    %t, %x = async.execute -> !async.value<i64> {
      async.yield %a : i64
    }
    scf.yield %x : !async.value<i64>
  } else {
    %t, %x = async.execute -> !async.value<i64> {
      async.yield %b : i64
    }
    scf.yield %x : !async.value<i64>
  }
  %x = async.await %v : !async.value<i64>
  call @printI64(%x) : (i64) -> ()
  return
}

// A parallel loop in an async function.
async.func @fill(%m: memref<7xi64>) -> !async.token {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.parallel (%i) = (%c0) to (%c7) step (%c1) {
    %k = arith.index_cast %i : index to i64
    memref.store %k, %m[%i] : memref<7xi64>
  }
  return
}
func.func @parallel() {
  %m = memref.alloc() : memref<7xi64>
  %t = async.call @fill(%m) : (memref<7xi64>) -> !async.token
  async.await %t : !async.token
  %c6 = arith.constant 6 : index
  %x = memref.load %m[%c6] : memref<7xi64>
  call @printI64(%x) : (i64) -> ()
  memref.dealloc %m : memref<7xi64>
  return
}

// A parallel loop in a parallel loop.
func.func @nested() {
  %m = memref.alloc() : memref<3x2xi64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.parallel (%i) = (%c0) to (%c3) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c2) step (%c1) {
      %s = arith.addi %i, %j : index
      %k = arith.index_cast %s : index to i64
      memref.store %k, %m[%i, %j] : memref<3x2xi64>
    }
  }
  %x = memref.load %m[%c2, %c1] : memref<3x2xi64>
  call @printI64(%x) : (i64) -> ()
  memref.dealloc %m : memref<3x2xi64>
  return
}

// One of several cases.
func.func @cases() {
  %i = arith.constant 2 : index
  %a = arith.constant 10 : i64
  %b = arith.constant 20 : i64
  %x = scf.index_switch %i -> i64
  case 2 {
    %t, %v = async.execute -> !async.value<i64> {
      async.yield %a : i64
    }
    %y = async.await %v : !async.value<i64>
    scf.yield %y : i64
  }
  default {
    scf.yield %b : i64
  }
  call @printI64(%x) : (i64) -> ()
  return
}

// No iterations in two reversed dimensions.
func.func @reversed() {
  %lo = arith.constant 5 : index
  %hi = arith.constant 2 : index
  %one = arith.constant 1 : index
  %x = arith.constant 1 : i64
  scf.parallel (%i, %j) = (%lo, %lo) to (%hi, %hi) step (%one, %one) {
    func.call @printI64(%x) : (i64) -> ()
  }
  return
}

// A reduction.
func.func @reduced() {
  %lo = arith.constant 1 : index
  %hi = arith.constant 11 : index
  %one = arith.constant 1 : index
  %z = arith.constant 100 : i64
  %s = scf.parallel (%i) = (%lo) to (%hi) step (%one) init (%z) -> i64 {
    %k = arith.index_cast %i : index to i64
    scf.reduce(%k : i64) {
    ^bb0(%a: i64, %b: i64):
      %c = arith.addi %a, %b : i64
      scf.reduce.return %c : i64
    }
  }
  call @printI64(%s) : (i64) -> ()
  return
}

func.func @main() {
  call @count_down() : () -> ()
  call @printNewline() : () -> ()
  call @choice() : () -> ()
  call @printNewline() : () -> ()
  call @parallel() : () -> ()
  call @printNewline() : () -> ()
  call @nested() : () -> ()
  call @printNewline() : () -> ()
  call @cases() : () -> ()
  call @printNewline() : () -> ()
  call @reversed() : () -> ()
  call @reduced() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
