// Each kind of `memref.atomic_rmw`, and `memref.generic_atomic_rmw` in parallel loops and tasks.

func.func @addi() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  %o = memref.atomic_rmw addi %p, %m[%c1] : (i32, memref<2xi32>) -> i32
  vector.print %o : i32
  %r = memref.load %m[%c1] : memref<2xi32>
  vector.print %r : i32
  memref.dealloc %m : memref<2xi32>
  return
}

func.func @assign() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  %o = memref.atomic_rmw assign %p, %m[%c1] : (i32, memref<2xi32>) -> i32
  vector.print %o : i32
  %r = memref.load %m[%c1] : memref<2xi32>
  vector.print %r : i32
  memref.dealloc %m : memref<2xi32>
  return
}

func.func @maxs() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  %o = memref.atomic_rmw maxs %p, %m[%c1] : (i32, memref<2xi32>) -> i32
  vector.print %o : i32
  %r = memref.load %m[%c1] : memref<2xi32>
  vector.print %r : i32
  memref.dealloc %m : memref<2xi32>
  return
}

func.func @maxu() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  %o = memref.atomic_rmw maxu %p, %m[%c1] : (i32, memref<2xi32>) -> i32
  vector.print %o : i32
  %r = memref.load %m[%c1] : memref<2xi32>
  vector.print %r : i32
  memref.dealloc %m : memref<2xi32>
  return
}

func.func @mins() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  %o = memref.atomic_rmw mins %p, %m[%c1] : (i32, memref<2xi32>) -> i32
  vector.print %o : i32
  %r = memref.load %m[%c1] : memref<2xi32>
  vector.print %r : i32
  memref.dealloc %m : memref<2xi32>
  return
}

func.func @minu() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  %o = memref.atomic_rmw minu %p, %m[%c1] : (i32, memref<2xi32>) -> i32
  vector.print %o : i32
  %r = memref.load %m[%c1] : memref<2xi32>
  vector.print %r : i32
  memref.dealloc %m : memref<2xi32>
  return
}

func.func @muli() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  %o = memref.atomic_rmw muli %p, %m[%c1] : (i32, memref<2xi32>) -> i32
  vector.print %o : i32
  %r = memref.load %m[%c1] : memref<2xi32>
  vector.print %r : i32
  memref.dealloc %m : memref<2xi32>
  return
}

func.func @ori() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  %o = memref.atomic_rmw ori %p, %m[%c1] : (i32, memref<2xi32>) -> i32
  vector.print %o : i32
  %r = memref.load %m[%c1] : memref<2xi32>
  vector.print %r : i32
  memref.dealloc %m : memref<2xi32>
  return
}

func.func @andi() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  %n = arith.constant 12 : i32
  %p = arith.constant -7 : i32
  memref.store %n, %m[%c1] : memref<2xi32>
  %o = memref.atomic_rmw andi %p, %m[%c1] : (i32, memref<2xi32>) -> i32
  vector.print %o : i32
  %r = memref.load %m[%c1] : memref<2xi32>
  vector.print %r : i32
  memref.dealloc %m : memref<2xi32>
  return
}

func.func @addf_floats() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xf64>
  %n = arith.constant 1.5 : f64
  %p = arith.constant -7.0 : f64
  %q = arith.constant 0x7FF8000000000000 : f64
  memref.store %n, %m[%c1] : memref<2xf64>
  %o = memref.atomic_rmw addf %p, %m[%c1] : (f64, memref<2xf64>) -> f64
  vector.print %o : f64
  %r = memref.load %m[%c1] : memref<2xf64>
  vector.print %r : f64
  %o2 = memref.atomic_rmw addf %q, %m[%c1] : (f64, memref<2xf64>) -> f64
  %r2 = memref.load %m[%c1] : memref<2xf64>
  vector.print %r2 : f64
  memref.dealloc %m : memref<2xf64>
  return
}

func.func @maximumf_floats() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xf64>
  %n = arith.constant 1.5 : f64
  %p = arith.constant -7.0 : f64
  %q = arith.constant 0x7FF8000000000000 : f64
  memref.store %n, %m[%c1] : memref<2xf64>
  %o = memref.atomic_rmw maximumf %p, %m[%c1] : (f64, memref<2xf64>) -> f64
  vector.print %o : f64
  %r = memref.load %m[%c1] : memref<2xf64>
  vector.print %r : f64
  %o2 = memref.atomic_rmw maximumf %q, %m[%c1] : (f64, memref<2xf64>) -> f64
  %r2 = memref.load %m[%c1] : memref<2xf64>
  vector.print %r2 : f64
  memref.dealloc %m : memref<2xf64>
  return
}

func.func @minimumf_floats() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xf64>
  %n = arith.constant 1.5 : f64
  %p = arith.constant -7.0 : f64
  %q = arith.constant 0x7FF8000000000000 : f64
  memref.store %n, %m[%c1] : memref<2xf64>
  %o = memref.atomic_rmw minimumf %p, %m[%c1] : (f64, memref<2xf64>) -> f64
  vector.print %o : f64
  %r = memref.load %m[%c1] : memref<2xf64>
  vector.print %r : f64
  %o2 = memref.atomic_rmw minimumf %q, %m[%c1] : (f64, memref<2xf64>) -> f64
  %r2 = memref.load %m[%c1] : memref<2xf64>
  vector.print %r2 : f64
  memref.dealloc %m : memref<2xf64>
  return
}

func.func @mulf_floats() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xf64>
  %n = arith.constant 1.5 : f64
  %p = arith.constant -7.0 : f64
  %q = arith.constant 0x7FF8000000000000 : f64
  memref.store %n, %m[%c1] : memref<2xf64>
  %o = memref.atomic_rmw mulf %p, %m[%c1] : (f64, memref<2xf64>) -> f64
  vector.print %o : f64
  %r = memref.load %m[%c1] : memref<2xf64>
  vector.print %r : f64
  %o2 = memref.atomic_rmw mulf %q, %m[%c1] : (f64, memref<2xf64>) -> f64
  %r2 = memref.load %m[%c1] : memref<2xf64>
  vector.print %r2 : f64
  memref.dealloc %m : memref<2xf64>
  return
}

func.func @assign_floats() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xf64>
  %n = arith.constant 1.5 : f64
  %p = arith.constant -7.0 : f64
  %q = arith.constant 0x7FF8000000000000 : f64
  memref.store %n, %m[%c1] : memref<2xf64>
  %o = memref.atomic_rmw assign %p, %m[%c1] : (f64, memref<2xf64>) -> f64
  vector.print %o : f64
  %r = memref.load %m[%c1] : memref<2xf64>
  vector.print %r : f64
  %o2 = memref.atomic_rmw assign %q, %m[%c1] : (f64, memref<2xf64>) -> f64
  %r2 = memref.load %m[%c1] : memref<2xf64>
  vector.print %r2 : f64
  memref.dealloc %m : memref<2xf64>
  return
}

func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }
func.func @generic() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %m = memref.alloc() : memref<4xf32>
  %f = arith.constant 2.0 : f32
  linalg.fill ins(%f : f32) outs(%m : memref<4xf32>)
  %old = memref.generic_atomic_rmw %m[%c1] : memref<4xf32> {
  ^bb0(%current: f32):
    %new = arith.mulf %current, %f : f32
    memref.atomic_yield %new : f32
  }
  vector.print %old : f32
  %k = memref.alloc() : memref<4xi32>
  %one = arith.constant 1 : i32
  linalg.fill ins(%one : i32) outs(%k : memref<4xi32>)
  scf.parallel (%i) = (%c0) to (%c10) step (%c1) {
    %x = memref.generic_atomic_rmw %k[%c0] : memref<4xi32> {
    ^bb0(%current: i32):
      %c = arith.cmpi slt, %current, %one : i32
      %new = arith.addi %current, %one : i32
      memref.atomic_yield %new : i32
    }
  }
  %r = memref.load %k[%c0] : memref<4xi32>
  vector.print %r : i32
  %u = memref.cast %m : memref<4xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  // The same from many tasks.
  %group = async.create_group %c10 : !async.group
  scf.for %i = %c0 to %c10 step %c1 {
    %task = async.execute {
      %before = memref.generic_atomic_rmw %k[%c1] : memref<4xi32> {
      ^bb0(%now: i32):
        %two = arith.constant 2 : i32
        %twice = arith.muli %now, %two : i32
        memref.atomic_yield %twice : i32
      }
      async.yield
    }
    %n = async.add_to_group %task, %group : !async.token
  }
  async.await_all %group
  %power = memref.load %k[%c1] : memref<4xi32>
  vector.print %power : i32
  %nan = arith.constant 0x7FC00000 : f32
  memref.store %nan, %m[%c0] : memref<4xf32>
  %was = memref.generic_atomic_rmw %m[%c0] : memref<4xf32> {
  ^bb0(%now: f32):
    %same = arith.cmpf oeq, %now, %now : f32
    %chosen = scf.if %same -> f32 {
      scf.yield %now : f32
    } else {
      scf.yield %f : f32
    }
    memref.atomic_yield %chosen : f32
  }
  vector.print %was : f32
  %instead = memref.load %m[%c0] : memref<4xf32>
  vector.print %instead : f32
  memref.dealloc %m : memref<4xf32>
  memref.dealloc %k : memref<4xi32>
  return
}

func.func @main() {
  call @addi() : () -> ()
  call @assign() : () -> ()
  call @maxs() : () -> ()
  call @maxu() : () -> ()
  call @mins() : () -> ()
  call @minu() : () -> ()
  call @muli() : () -> ()
  call @ori() : () -> ()
  call @andi() : () -> ()
  call @addf_floats() : () -> ()
  call @maximumf_floats() : () -> ()
  call @minimumf_floats() : () -> ()
  call @mulf_floats() : () -> ()
  call @assign_floats() : () -> ()
  call @generic() : () -> ()
  return
}
