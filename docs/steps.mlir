func.func @main() -> f32 {
  %zero = arith.constant 0 : index
  %x = arith.constant 2.5 : f32
  %m = memref.alloc() : memref<2xf32>
  linalg.fill ins(%x : f32) outs(%m : memref<2xf32>)
  %old = memref.atomic_rmw addf %x, %m[%zero] : (f32, memref<2xf32>) -> f32
  %sum = memref.load %m[%zero] : memref<2xf32>
  memref.dealloc %m : memref<2xf32>
  return %sum : f32
}
// -----
func.func @add(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
func.func @main() -> i32 {
  %f = func.constant @add : (i32) -> i32
  %n = arith.constant 13 : i32
  %r = func.call_indirect %f(%n) : (i32) -> i32
  return %r : i32
}
// -----
func.func @fib(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %small = arith.cmpi sle, %n, %one : i64
  %r = scf.if %small -> i64 {
    scf.yield %n : i64
  } else {
    %m = arith.subi %n, %one : i64
    %t, %v = async.execute -> !async.value<i64> {
      %a = func.call @fib(%m) : (i64) -> i64
      async.yield %a : i64
    }
    %k = arith.subi %m, %one : i64
    %b = func.call @fib(%k) : (i64) -> i64
    %a = async.await %v : !async.value<i64>
    %s = arith.addi %a, %b : i64
    scf.yield %s : i64
  }
  return %r : i64
}
func.func @main() -> i64 {
  %n = arith.constant 6 : i64
  %r = call @fib(%n) : (i64) -> i64
  return %r : i64
}
// -----
func.func @main() -> i64 {
  %zero = arith.constant 0 : i64
  %limit = arith.constant 100 : i64
  %r = scf.while (%x = %zero) : (i64) -> i64 {
    %again = arith.cmpi slt, %x, %limit : i64
    scf.condition(%again) %x : i64
  } do {
  ^bb0(%x: i64):
    %y = arith.addi %x, %limit : i64
    scf.yield %y : i64
  }
  return %r : i64
}
// -----
func.func @main() -> i32 {
  %a = arith.constant 13 : i32
  %b = arith.constant 6 : i32
  %c = arith.cmpi slt, %a, %b : i32
  %m = memref.alloc() : memref<i32>
  %n = memref.alloc() : memref<i32>
  memref.store %a, %m[] : memref<i32>
  memref.store %b, %n[] : memref<i32>
  %chosen = arith.select %c, %m, %n : memref<i32>
  %x = memref.load %chosen[] : memref<i32>
  %q = arith.divsi %a, %x : i32
  memref.dealloc %m : memref<i32>
  memref.dealloc %n : memref<i32>
  return %q : i32
}
// -----
func.func @main() -> i64 {
  %yes = arith.constant true
  %n = arith.constant 13 : i64
  %t, %a = async.execute -> !async.value<i64> {
    async.yield %n : i64
  }
  %chosen = arith.select %yes, %a, %a : !async.value<i64>
  %x = async.await %chosen : !async.value<i64>
  return %x : i64
}
// -----
async.func @one() -> !async.value<i64> {
  %one = arith.constant 1 : i64
  return %one : i64
}
func.func @main() -> i64 {
  %v = async.call @one() : () -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  %w = async.call @one() : () -> !async.value<i64>
  %t, %y = async.execute (%w as %z: !async.value<i64>) -> !async.value<i64> {
    async.yield %z : i64
  }
  %s = async.await %y : !async.value<i64>
  %r = arith.addi %x, %s : i64
  return %r : i64
}
// -----
memref.global "private" constant @table : memref<2xf32> = dense<[1.5, 2.5]>
func.func @first(%m: memref<2xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %x = memref.load %m[%zero] : memref<2xf32>
  memref.store %x, %m[%zero] : memref<2xf32>
  return %x : f32
}
func.func @main() -> f32 {
  %zero = arith.constant 0 : index
  %m = memref.alloc() : memref<2xf32>
  %t = memref.get_global @table : memref<2xf32>
  memref.copy %t, %m : memref<2xf32> to memref<2xf32>
  %old = memref.generic_atomic_rmw %m[%zero] : memref<2xf32> {
  ^bb0(%now: f32):
    %twice = arith.addf %now, %now : f32
    memref.atomic_yield %twice : f32
  }
  %x = func.call @first(%m) : (memref<2xf32>) -> f32
  memref.dealloc %m : memref<2xf32>
  return %x : f32
}
// -----
func.func @main() -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %m = memref.alloc() : memref<3xi32>
  scf.for %i = %zero to %three step %one {
    %x = arith.index_cast %i : index to i32
    %y = scf.for %j = %zero to %three step %one iter_args(%v = %x) -> (i32) {
      %w = arith.addi %v, %x : i32
      scf.yield %w : i32
    }
    memref.store %y, %m[%i] : memref<3xi32>
  }
  %r = memref.load %m[%one] : memref<3xi32>
  memref.dealloc %m : memref<3xi32>
  return %r : i32
}
// -----
func.func @main() {
  %n = arith.constant 10 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %g = async.create_group %n : !async.group
  %t = async.execute {
    async.yield
  }
  scf.for %i = %zero to %n step %one {
    %u = async.execute [%t] {
      async.yield
    }
    %rank = async.add_to_group %u, %g : !async.token
  }
  async.await_all %g
  return
}
// -----
func.func @main() {
  %n = arith.constant 5000 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %g = async.create_group %n : !async.group
  %t = async.execute {
    async.yield
  }
  scf.for %i = %zero to %n step %one {
    %u = async.execute [%t] {
      async.yield
    }
    %rank = async.add_to_group %u, %g : !async.token
  }
  async.await_all %g
  return
}
