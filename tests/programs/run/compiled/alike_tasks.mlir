// Tasks whose bodies differ in numbers only share code from the ninth on: each keeps its own numbers.

func.func private @printI64(i64)
func.func private @printF64(f64)
func.func private @printNewline()

// Bodies that only compute, with an integer, a float and an index of their own.
func.func @computing(%x: i64) -> i64 {
  %k = arith.constant 1000 : i64
  %s0 = arith.constant 0 : i64
  %t0, %v0 = async.execute -> !async.value<i64> {
    %n = arith.constant 1 : i64
    %f = arith.constant 0.5 : f64
    %at = arith.constant 0 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w0 = async.await %v0 : !async.value<i64>
  %s1 = arith.addi %s0, %w0 : i64
  %t1, %v1 = async.execute -> !async.value<i64> {
    %n = arith.constant 2 : i64
    %f = arith.constant 1.5 : f64
    %at = arith.constant 2 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w1 = async.await %v1 : !async.value<i64>
  %s2 = arith.addi %s1, %w1 : i64
  %t2, %v2 = async.execute -> !async.value<i64> {
    %n = arith.constant 3 : i64
    %f = arith.constant 2.5 : f64
    %at = arith.constant 4 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w2 = async.await %v2 : !async.value<i64>
  %s3 = arith.addi %s2, %w2 : i64
  %t3, %v3 = async.execute -> !async.value<i64> {
    %n = arith.constant 4 : i64
    %f = arith.constant 3.5 : f64
    %at = arith.constant 6 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w3 = async.await %v3 : !async.value<i64>
  %s4 = arith.addi %s3, %w3 : i64
  %t4, %v4 = async.execute -> !async.value<i64> {
    %n = arith.constant 5 : i64
    %f = arith.constant 4.5 : f64
    %at = arith.constant 8 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w4 = async.await %v4 : !async.value<i64>
  %s5 = arith.addi %s4, %w4 : i64
  %t5, %v5 = async.execute -> !async.value<i64> {
    %n = arith.constant 6 : i64
    %f = arith.constant 5.5 : f64
    %at = arith.constant 10 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w5 = async.await %v5 : !async.value<i64>
  %s6 = arith.addi %s5, %w5 : i64
  %t6, %v6 = async.execute -> !async.value<i64> {
    %n = arith.constant 7 : i64
    %f = arith.constant 6.5 : f64
    %at = arith.constant 12 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w6 = async.await %v6 : !async.value<i64>
  %s7 = arith.addi %s6, %w6 : i64
  %t7, %v7 = async.execute -> !async.value<i64> {
    %n = arith.constant 8 : i64
    %f = arith.constant 7.5 : f64
    %at = arith.constant 14 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w7 = async.await %v7 : !async.value<i64>
  %s8 = arith.addi %s7, %w7 : i64
  %t8, %v8 = async.execute -> !async.value<i64> {
    %n = arith.constant 9 : i64
    %f = arith.constant 8.5 : f64
    %at = arith.constant 16 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w8 = async.await %v8 : !async.value<i64>
  %s9 = arith.addi %s8, %w8 : i64
  %t9, %v9 = async.execute -> !async.value<i64> {
    %n = arith.constant 10 : i64
    %f = arith.constant 9.5 : f64
    %at = arith.constant 18 : index
    %g = arith.addf %f, %f : f64
    %h = arith.fptosi %g : f64 to i64
    %j = arith.index_cast %at : index to i64
    %p = arith.muli %x, %n : i64
    %q = arith.addi %p, %h : i64
    %r = arith.addi %q, %j : i64
    %z = arith.addi %r, %k : i64
    async.yield %z : i64
  }
  %w9 = async.await %v9 : !async.value<i64>
  %s10 = arith.addi %s9, %w9 : i64
  return %s10 : i64
}

// Bodies that wait after they have had an effect are coroutines.
func.func @waiting(%x: i64, %gate: !async.value<i64>) -> i64 {
  %one = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<1xi64>
  %s0 = arith.constant 0 : i64
  memref.store %s0, %m[%c0] : memref<1xi64>
  %t0, %v0 = async.execute -> !async.value<i64> {
    %n = arith.constant 0 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 100 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 0 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %t1, %v1 = async.execute -> !async.value<i64> {
    %n = arith.constant 1 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 101 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 7 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %t2, %v2 = async.execute -> !async.value<i64> {
    %n = arith.constant 4 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 102 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 14 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %t3, %v3 = async.execute -> !async.value<i64> {
    %n = arith.constant 9 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 103 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 21 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %t4, %v4 = async.execute -> !async.value<i64> {
    %n = arith.constant 16 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 104 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 28 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %t5, %v5 = async.execute -> !async.value<i64> {
    %n = arith.constant 25 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 105 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 35 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %t6, %v6 = async.execute -> !async.value<i64> {
    %n = arith.constant 36 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 106 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 42 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %t7, %v7 = async.execute -> !async.value<i64> {
    %n = arith.constant 49 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 107 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 49 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %t8, %v8 = async.execute -> !async.value<i64> {
    %n = arith.constant 64 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 108 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 56 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %t9, %v9 = async.execute -> !async.value<i64> {
    %n = arith.constant 81 : i64
    memref.store %n, %m[%c0] : memref<1xi64>
    %a = async.await %gate : !async.value<i64>
    %big = arith.cmpi sgt, %a, %n : i64
    %r = scf.if %big -> i64 {
      %d = arith.constant 109 : i64
      scf.yield %d : i64
    } else {
      %u, %inner = async.execute -> !async.value<i64> {
        %e = arith.constant 63 : i64
        %y = arith.addi %e, %n : i64
        async.yield %y : i64
      }
      %y = async.await %inner : !async.value<i64>
      scf.yield %y : i64
    }
    async.yield %r : i64
  }
  %w0 = async.await %v0 : !async.value<i64>
  func.call @printI64(%w0) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s1 = arith.addi %s0, %w0 : i64
  %w1 = async.await %v1 : !async.value<i64>
  func.call @printI64(%w1) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s2 = arith.addi %s1, %w1 : i64
  %w2 = async.await %v2 : !async.value<i64>
  func.call @printI64(%w2) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s3 = arith.addi %s2, %w2 : i64
  %w3 = async.await %v3 : !async.value<i64>
  func.call @printI64(%w3) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s4 = arith.addi %s3, %w3 : i64
  %w4 = async.await %v4 : !async.value<i64>
  func.call @printI64(%w4) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s5 = arith.addi %s4, %w4 : i64
  %w5 = async.await %v5 : !async.value<i64>
  func.call @printI64(%w5) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s6 = arith.addi %s5, %w5 : i64
  %w6 = async.await %v6 : !async.value<i64>
  func.call @printI64(%w6) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s7 = arith.addi %s6, %w6 : i64
  %w7 = async.await %v7 : !async.value<i64>
  func.call @printI64(%w7) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s8 = arith.addi %s7, %w7 : i64
  %w8 = async.await %v8 : !async.value<i64>
  func.call @printI64(%w8) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s9 = arith.addi %s8, %w8 : i64
  %w9 = async.await %v9 : !async.value<i64>
  func.call @printI64(%w9) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %s10 = arith.addi %s9, %w9 : i64
  memref.dealloc %m : memref<1xi64>
  return %s10 : i64
}

// Members of a group, which store into a buffer at a place of their own.
func.func @members() -> f64 {
  %c0 = arith.constant 0 : index
  %size = arith.constant 10 : index
  %m = memref.alloc() : memref<10xf64>
  %g = async.create_group %size : !async.group
  %t0 = async.execute {
    %at = arith.constant 0 : index
    %f = arith.constant 0.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t0, %g : !async.token
  %t1 = async.execute {
    %at = arith.constant 1 : index
    %f = arith.constant 1.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t1, %g : !async.token
  %t2 = async.execute {
    %at = arith.constant 2 : index
    %f = arith.constant 2.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t2, %g : !async.token
  %t3 = async.execute {
    %at = arith.constant 3 : index
    %f = arith.constant 3.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t3, %g : !async.token
  %t4 = async.execute {
    %at = arith.constant 4 : index
    %f = arith.constant 4.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t4, %g : !async.token
  %t5 = async.execute {
    %at = arith.constant 5 : index
    %f = arith.constant 5.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t5, %g : !async.token
  %t6 = async.execute {
    %at = arith.constant 6 : index
    %f = arith.constant 6.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t6, %g : !async.token
  %t7 = async.execute {
    %at = arith.constant 7 : index
    %f = arith.constant 7.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t7, %g : !async.token
  %t8 = async.execute {
    %at = arith.constant 8 : index
    %f = arith.constant 8.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t8, %g : !async.token
  %t9 = async.execute {
    %at = arith.constant 9 : index
    %f = arith.constant 9.25 : f64
    memref.store %f, %m[%at] : memref<10xf64>
    async.yield
  }
  async.add_to_group %t9, %g : !async.token
  async.await_all %g
  %s0 = arith.constant 0.0 : f64
  %i0 = arith.constant 0 : index
  %e0 = memref.load %m[%i0] : memref<10xf64>
  %s1 = arith.addf %s0, %e0 : f64
  %i1 = arith.constant 1 : index
  %e1 = memref.load %m[%i1] : memref<10xf64>
  %s2 = arith.addf %s1, %e1 : f64
  %i2 = arith.constant 2 : index
  %e2 = memref.load %m[%i2] : memref<10xf64>
  %s3 = arith.addf %s2, %e2 : f64
  %i3 = arith.constant 3 : index
  %e3 = memref.load %m[%i3] : memref<10xf64>
  %s4 = arith.addf %s3, %e3 : f64
  %i4 = arith.constant 4 : index
  %e4 = memref.load %m[%i4] : memref<10xf64>
  %s5 = arith.addf %s4, %e4 : f64
  %i5 = arith.constant 5 : index
  %e5 = memref.load %m[%i5] : memref<10xf64>
  %s6 = arith.addf %s5, %e5 : f64
  %i6 = arith.constant 6 : index
  %e6 = memref.load %m[%i6] : memref<10xf64>
  %s7 = arith.addf %s6, %e6 : f64
  %i7 = arith.constant 7 : index
  %e7 = memref.load %m[%i7] : memref<10xf64>
  %s8 = arith.addf %s7, %e7 : f64
  %i8 = arith.constant 8 : index
  %e8 = memref.load %m[%i8] : memref<10xf64>
  %s9 = arith.addf %s8, %e8 : f64
  %i9 = arith.constant 9 : index
  %e9 = memref.load %m[%i9] : memref<10xf64>
  %s10 = arith.addf %s9, %e9 : f64
  memref.dealloc %m : memref<10xf64>
  return %s10 : f64
}

func.func @main() -> (i64, i64, f64) {
  %x = arith.constant 3 : i64
  %t, %gate = async.execute -> !async.value<i64> {
    %r = arith.constant 30 : i64
    async.yield %r : i64
  }
  %a = func.call @computing(%x) : (i64) -> i64
  %b = func.call @waiting(%x, %gate) : (i64, !async.value<i64>) -> i64
  %c = func.call @members() : () -> f64
  return %a, %b, %c : i64, i64, f64
}
