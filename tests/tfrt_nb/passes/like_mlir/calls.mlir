// pipeline: builtin.module(inline)
// pipeline: builtin.module(inline,symbol-dce,cse)
func.func @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 4 : index
  %v2 = arith.constant 1 : index
  %v5 = scf.for %v3 = %x to %v1 step %v2 iter_args(%v4 = %z) -> (i64) {
    %v6 = arith.constant 10 : index
    %v7 = arith.constant 4 : index
    scf.for %v8 = %v3 to %v6 step %v7 {
    }
    %v9 = arith.constant 2 : index
    %v10 = arith.constant 2 : index
    %v14, %v15 = scf.for %v11 = %v9 to %x step %v10 iter_args(%v12 = %y, %v13 = %v3) -> (index, index) {
      %v16 = arith.constant -1 : i64
      %v17 = arith.andi %v16, %w : i64
      %v18 = arith.constant -1 : index
      scf.yield %v12, %v18 : index, index
    }
    scf.yield %z : i64
  }
  %one1 = arith.constant 0 : index
  scf.for %i1 = %one1 to %y step %one1 {
    %r1 = func.call @h2(%c, %i1, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
  }
  return %w : i64
}
func.func @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 2 : i64
  %v2 = arith.index_cast %v1 : i64 to index
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %w : i64
^b:
  return %w : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
func.func private @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 0 : index
  %v3 = arith.constant 3 : index
  scf.parallel (%v4, %v5) = (%y, %v2) to (%x, %v3) step (%v1, %x) {
    scf.reduce
  }
  %v6 = memref.load %m[%y] : memref<?xi64>
  %one1 = arith.constant 3 : index
  %t1 = async.execute {
    %r1 = func.call @h2(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
    async.yield
  }
  return %z : i64
}
// -----
func.func private @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  memref.store %w, %m[%x] : memref<?xi64>
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %z : i64
^b:
  return %w : i64
}
func.func @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 2 : index
  %v3 = arith.constant 1 : index
  scf.parallel (%v4) = (%v1) to (%v2) step (%v3) {
    scf.reduce
  }
  return %z : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @h3(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1, %v2 = async.execute -> !async.value<i64> {
    scf.if %c {
      %v3 = arith.constant -1 : index
      %v4 = memref.load %m[%v3] : memref<?xi64>
      scf.yield
    } else {
      scf.yield
    }
    async.yield %w : i64
  }
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %w : i64
^b:
  return %w : i64
}
func.func private @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.ceildivsi %w, %w : i64
  %v2 = arith.constant 2 : index
  %v3 = memref.alloc(%v2) : memref<?xi64>
  memref.dealloc %v3 : memref<?xi64>
  %v6, %v7 = scf.while : () -> (index, i64) {
    scf.condition(%c) %x, %z : index, i64
  } do {
  ^bb0(%v4: index, %v5: i64):
    scf.yield
  }
  %one1 = arith.constant 0 : index
  %r1 = func.call @h3(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  %one2 = arith.constant 0 : index
  %r2 = func.call @h2(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r2 : i64
}
// -----
func.func private @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = memref.load %m[%x] : memref<?xi64>
  return %z : i64
}
func.func @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 3 : index
  %v2 = arith.constant 2 : index
  %v3 = arith.constant 4 : index
  scf.for %v4 = %v1 to %v2 step %v3 {
  }
  cf.assert %c, "no"
  %one1 = arith.constant 0 : index
  %t1 = async.execute {
    %r1 = func.call @h1(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
    async.yield
  }
  return %z : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
func.func private @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant -1 : index
  %v2 = arith.select %c, %v1, %x : index
  %v3 = arith.constant false
  cf.assert %v3, "no"
  %v4 = arith.constant 1 : i64
  memref.store %v4, %m[%y] : memref<?xi64>
  %v5 = arith.constant 2 : index
  %v6 = arith.constant 1 : index
  %v7 = arith.constant 4 : index
  %v8 = arith.constant -1 : index
  %v9 = arith.constant 1 : index
  %v10 = arith.constant -1 : index
  %v11 = arith.constant 1 : index
  scf.parallel (%v12, %v13, %v14) = (%v2, %v7, %v10) to (%v5, %v8, %v2) step (%v6, %v9, %v11) {
    scf.reduce
  }
  %one1 = arith.constant 3 : index
  %r1 = func.call @h2(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r1 : i64
}
// -----
func.func private @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 3 : index
  %v2 = arith.constant 1 : index
  %v5 = scf.for %v3 = %v1 to %x step %v2 iter_args(%v4 = %w) -> (i64) {
    %v6 = arith.constant 4 : index
    %v7 = arith.cmpi slt, %y, %v6 : index
    %v8 = arith.cmpi ne, %x, %x : index
    scf.execute_region {
      scf.yield
    }
    scf.yield %w : i64
  }
  %one1 = arith.constant 0 : index
  %r1 = func.call @h2(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %r1 : i64
^b:
  return %w : i64
}
func.func private @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = async.execute {
    async.yield
  }
  async.await %v1 : !async.token
  %one1 = arith.constant 0 : index
  scf.for %i1 = %one1 to %y step %one1 {
    %r1 = func.call @h1(%c, %i1, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
  }
  %one2 = arith.constant 3 : index
  %r2 = func.call @h0(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %r2 : i64
^b:
  return %w : i64
}
func.func @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  scf.if %c {
    scf.yield
  } else {
    scf.yield
  }
  %one1 = arith.constant 3 : index
  %r1 = func.call @h2(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r1 : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
// -----
func.func private @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 2 : index
  %v2 = arith.constant 0 : index
  %v3 = arith.select %c, %v1, %v2 : index
  %v4 = arith.constant -1 : index
  %v5 = memref.load %m[%v4] : memref<?xi64>
  %v6 = scf.if %c -> (index) {
    %v7 = arith.constant 1 : index
    scf.yield %v7 : index
  } else {
    scf.yield %y : index
  }
  %one1 = arith.constant 1 : index
  %r1 = func.call @h3(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  %one2 = arith.constant 1 : index
  %r2 = func.call @h3(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r2 : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
func.func private @h3(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  func.call @use(%w) : (i64) -> ()
  %v1 = arith.constant 0 : index
  %v2 = arith.ceildivsi %x, %v1 : index
  return %z : i64
}
func.func private @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = memref.alloc(%y) : memref<?xi64>
  %v2 = memref.load %m[%x] : memref<?xi64>
  %one1 = arith.constant 0 : index
  %r1 = func.call @h2(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r1 : i64
}
func.func @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant true
  %v2 = arith.xori %c, %v1 : i1
  %v3 = arith.divsi %y, %y : index
  %v4 = arith.xori %y, %x : index
  %one1 = arith.constant 1 : index
  %r1 = func.call @h3(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %r1 : i64
^b:
  return %w : i64
}
// -----
func.func @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 10 : index
  %v2 = arith.subi %v1, %y : index
  %v3 = arith.constant 10 : index
  %v4 = arith.constant 0 : index
  %v5 = arith.constant 2 : index
  scf.parallel (%v6) = (%v3) to (%v4) step (%v5) {
    %v7 = arith.constant false
    cf.assert %v7, "no"
    scf.reduce
  }
  return %z : i64
}
func.func @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1, %v2 = async.execute -> !async.value<i64> {
    async.yield %z : i64
  }
  return %z : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
// -----
func.func private @h3(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {

  return %z : i64
}
func.func private @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  func.call @use(%z) : (i64) -> ()
  %v1 = async.execute {
    %v2 = arith.constant 10 : index
    %v3 = arith.cmpi ne, %y, %v2 : index
    async.yield
  }
  async.await %v1 : !async.token
  %one1 = arith.constant 3 : index
  %r1 = func.call @h3(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  %one2 = arith.constant 3 : index
  %r2 = func.call @h3(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r2 : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 10 : index
  memref.store %w, %m[%v1] : memref<?xi64>
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %w : i64
^b:
  return %w : i64
}
func.func @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = func.call @get(%y) : (index) -> i1
  %v2 = arith.select %v1, %z, %w : i64
  %v3 = arith.constant 2 : index
  %v6 = scf.for %v4 = %y to %y step %v3 iter_args(%v5 = %z) -> (i64) {
    scf.yield %v5 : i64
  }
  %one1 = arith.constant 1 : index
  %t1 = async.execute {
    %r1 = func.call @h3(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
    async.yield
  }
  return %z : i64
}
// -----
func.func private @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = func.call @get(%x) : (index) -> i1
  %one1 = arith.constant 0 : index
  %r1 = func.call @h3(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  %one2 = arith.constant 0 : index
  %r2 = func.call @h3(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r2 : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = memref.load %m[%y] : memref<?xi64>
  %one1 = arith.constant 1 : index
  %r1 = func.call @h2(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  %one2 = arith.constant 0 : index
  %r2 = func.call @h3(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %r2 : i64
^b:
  return %w : i64
}
func.func @h3(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1, %v2 = scf.if %c -> (index, i64) {
    scf.yield %y, %w : index, i64
  } else {
    %v3 = arith.constant true
    scf.if %v3 {
      %v4 = arith.constant 1 : index
      %v5 = arith.cmpi eq, %v4, %y : index
      %v6 = arith.constant 0 : index
      %v7 = arith.divsi %x, %v6 : index
      scf.yield
    } else {
      scf.yield
    }
    scf.yield %x, %w : index, i64
  }
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %z : i64
^b:
  return %w : i64
}
func.func private @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.select %c, %z, %z : i64
  %one1 = arith.constant 3 : index
  %r1 = func.call @h3(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r1 : i64
}
// -----
func.func private @h4(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant -1 : index
  scf.for %v2 = %v1 to %x step %x {
    scf.for %v3 = %x to %v2 step %x {
      %v4 = arith.constant false
      %v5 = arith.xori %c, %v4 : i1
    }
    %v6 = arith.constant 0 : index
    scf.parallel (%v7, %v8) = (%x, %v6) to (%x, %y) step (%x, %x) {
      scf.reduce
    }
  }
  %one1 = arith.constant 0 : index
  %t1 = async.execute {
    %r1 = func.call @h0(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
    async.yield
  }
  %one2 = arith.constant 3 : index
  %r2 = func.call @h0(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r2 : i64
}
func.func @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  scf.if %c {
    scf.yield
  }
  %v1 = arith.constant 1 : index
  %v2 = memref.load %m[%v1] : memref<?xi64>
  %v3 = arith.divsi %x, %y : index
  %v4 = arith.constant 1 : index
  %v5 = arith.cmpi eq, %v3, %v4 : index
  %one1 = arith.constant 1 : index
  %t1 = async.execute {
    %r1 = func.call @h4(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
    async.yield
  }
  return %z : i64
}
func.func private @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant true
  %v2, %v3 = scf.if %v1 -> (i64, index) {
    scf.yield %w, %x : i64, index
  } else {
    %v4 = arith.constant 0 : i64
    scf.yield %v4, %x : i64, index
  }
  %one1 = arith.constant 1 : index
  %r1 = func.call @h3(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r1 : i64
}
func.func @h3(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 10 : index
  %v2 = arith.constant 3 : index
  scf.for %v3 = %v1 to %y step %v2 {
  }
  %one1 = arith.constant 3 : index
  %r1 = func.call @h4(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %r1 : i64
^b:
  return %w : i64
}
func.func @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = scf.if %c -> (i1) {
    %v2 = arith.constant 10 : index
    %v3 = arith.constant 0 : index
    %v4 = arith.constant 2 : index
    %v8, %v9 = scf.for %v5 = %v2 to %v3 step %x iter_args(%v6 = %y, %v7 = %v4) -> (index, index) {
      %v10 = arith.constant 4 : index
      %v11 = arith.constant -1 : index
      scf.yield %v10, %v11 : index, index
    }
    scf.yield %c : i1
  } else {
    scf.yield %c : i1
  }
  %one1 = arith.constant 1 : index
  %r1 = func.call @h1(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  %one2 = arith.constant 1 : index
  scf.for %i2 = %one2 to %y step %one2 {
    %r2 = func.call @h1(%c, %i2, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r2) : (i64) -> ()
  }
  return %r1 : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
// -----
func.func private @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant -1 : i64
  memref.store %v2, %m[%v1] : memref<?xi64>
  %v3 = arith.xori %y, %x : index
  memref.store %z, %m[%v3] : memref<?xi64>
  func.call @use(%w) : (i64) -> ()
  %one1 = arith.constant 1 : index
  %t1 = async.execute {
    %r1 = func.call @h0(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
    async.yield
  }
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %w : i64
^b:
  return %w : i64
}
func.func @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant -1 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 0 : index
  %v4 = arith.constant 4 : index
  %v5 = arith.constant 2 : index
  scf.parallel (%v6, %v7, %v8) = (%v1, %v3, %x) to (%x, %y, %x) step (%v2, %v4, %v5) {
    %v9 = arith.constant false
    %v10 = arith.xori %c, %v9 : i1
    scf.reduce
  }
  %v11 = arith.constant 10 : index
  %v12 = arith.cmpi ult, %x, %v11 : index
  %one1 = arith.constant 1 : index
  %t1 = async.execute {
    %r1 = func.call @h2(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
    async.yield
  }
  return %z : i64
}
func.func private @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 8 : index
  %v2 = arith.constant 0 : index
  %v3 = arith.constant -1 : index
  %v6 = scf.for %v4 = %v1 to %v2 step %x iter_args(%v5 = %v3) -> (index) {
    %v7 = arith.constant 8 : index
    scf.yield %v7 : index
  }
  %v8, %v9 = async.execute -> !async.value<i64> {
    %v10 = arith.constant false
    %v11 = scf.if %v10 -> (index) {
      scf.yield %y : index
    } else {
      scf.yield %x : index
    }
    async.yield %z : i64
  }
  %one1 = arith.constant 0 : index
  %r1 = func.call @h2(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r1 : i64
}
func.func @h3(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v2 = arith.constant 10 : index
  %v1 = func.call @get(%v2) : (index) -> i1
  %v3 = arith.constant 5 : i64
  %v4 = arith.xori %v3, %w : i64
  %v5 = async.create_group %y : !async.group
  async.await_all %v5
  %v6 = arith.constant true
  cf.assert %v6, "no"
  return %w : i64
}
func.func private @use(i64)
func.func private @get(index) -> i1
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func private @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  scf.if %c {
    memref.store %z, %m[%x] : memref<?xi64>
    %v1 = arith.constant 1 : index
    %v2 = arith.constant 2 : index
    scf.for %v3 = %v1 to %y step %v2 {
    }
    %v4 = arith.cmpi ult, %y, %x : index
    scf.yield
  }
  %one1 = arith.constant 1 : index
  %r1 = func.call @h3(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  %one2 = arith.constant 0 : index
  %r2 = func.call @h1(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r2 : i64
}
func.func private @h4(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 0 : i64
  func.call @use(%v1) : (i64) -> ()
  func.call @use(%w) : (i64) -> ()
  %one1 = arith.constant 3 : index
  %t1 = async.execute {
    %r1 = func.call @h3(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
    async.yield
  }
  %one2 = arith.constant 1 : index
  %t2 = async.execute {
    %r2 = func.call @h3(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r2) : (i64) -> ()
    async.yield
  }
  return %z : i64
}
func.func private @h3(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant true
  %v2 = arith.select %v1, %y, %x : index
  %one1 = arith.constant 0 : index
  %r1 = func.call @h4(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r1 : i64
}
func.func private @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.ceildivsi %x, %y : index
  %v2 = memref.load %m[%v1] : memref<?xi64>
  %v3 = arith.constant 2 : index
  %v4 = arith.constant 1 : index
  scf.for %v5 = %v3 to %x step %v4 {
    %v6 = arith.constant 0 : index
    %v7 = arith.constant 1 : index
    %v8 = arith.constant 0 : i64
    %v12, %v13 = scf.for %v9 = %v5 to %v6 step %v7 iter_args(%v10 = %v5, %v11 = %v8) -> (index, i64) {
      %v14 = arith.constant 2 : i64
      scf.yield %v5, %v14 : index, i64
    }
  }
  %one1 = arith.constant 3 : index
  scf.for %i1 = %one1 to %y step %one1 {
    %r1 = func.call @h1(%c, %i1, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
  }
  return %z : i64
}
func.func private @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant 0 : i64
  %v2 = arith.index_cast %v1 : i64 to index
  %v3 = memref.load %m[%y] : memref<?xi64>
  %one1 = arith.constant 3 : index
  %r1 = func.call @h4(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r1 : i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func private @h1(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant -1 : i64
  func.call @use(%v1) : (i64) -> ()
  %v2 = arith.constant false
  %v3 = arith.xori %c, %v2 : i1
  %v4 = arith.constant true
  %v5 = arith.constant 5 : i64
  %v6 = arith.select %v4, %w, %v5 : i64
  %one1 = arith.constant 3 : index
  %t1 = async.execute {
    %r1 = func.call @h3(%c, %x, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r1) : (i64) -> ()
    async.yield
  }
  %one2 = arith.constant 0 : index
  %r2 = func.call @h3(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  return %r2 : i64
}
func.func @h3(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v3, %v4 = scf.while : () -> (i64, index) {
    %v5 = memref.load %m[%y] : memref<?xi64>
    scf.condition(%c) %z, %x : i64, index
  } do {
  ^bb0(%v1: i64, %v2: index):
    scf.yield
  }
  %one1 = arith.constant 3 : index
  %r1 = func.call @h1(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  %one2 = arith.constant 0 : index
  scf.for %i2 = %one2 to %y step %one2 {
    %r2 = func.call @h1(%c, %i2, %y, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
    func.call @use(%r2) : (i64) -> ()
  }
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %r1 : i64
^b:
  return %w : i64
}
func.func private @h0(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = async.create_group %x : !async.group
  %one1 = arith.constant 0 : index
  %r1 = func.call @h3(%c, %x, %one1, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  %one2 = arith.constant 1 : index
  %r2 = func.call @h2(%c, %x, %one2, %w, %z, %m) : (i1, index, index, i64, i64, memref<?xi64>) -> i64
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %r2 : i64
^b:
  return %w : i64
}
func.func @h2(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> i64 {
  %v1 = arith.constant true
  %v2 = arith.xori %c, %v1 : i1
  cf.cond_br %c, ^a, ^b
^a:
  func.call @use(%z) : (i64) -> ()
  return %z : i64
^b:
  return %w : i64
}
