// pipeline: builtin.module(canonicalize)
// pipeline: builtin.module(async-func-to-async-runtime,async-to-async-runtime)
// pipeline: builtin.module(async-func-to-async-runtime,async-to-async-runtime,canonicalize,cse)
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 0 : index
  %v3 = arith.constant 1 : index
  %v4 = arith.constant 0 : i64
  %v7 = scf.for %v5 = %v1 to %v2 step %v3 iter_args(%v6 = %v4) -> (i64) {
    scf.yield %z : i64
  }
  %v8 = arith.constant 8 : index
  %v9 = arith.constant 0 : index
  %v10 = arith.cmpi ult, %v8, %v9 : index
  scf.if %c {
    %v11 = arith.constant 5 : i64
    memref.store %v11, %m[%y] : memref<?xi64>
    scf.yield
  } else {
    scf.yield
  }
  %v12 = arith.constant 10 : index
  %v17, %v18 = scf.while (%v13 = %y, %v14 = %v12) : (index, index) -> (i64, i64) {
    %v19 = arith.constant 1 : index
    %v20 = arith.constant 4 : index
    %v21 = arith.addi %v19, %v20 : index
    %v22 = arith.constant false
    scf.condition(%v22) %v7, %v7 : i64, i64
  } do {
  ^bb0(%v15: i64, %v16: i64):
    %v23 = arith.cmpi ult, %x, %x : index
    %v24 = arith.constant 8 : index
    %v25 = arith.cmpi eq, %v24, %y : index
    %v26 = memref.load %m[%x] : memref<?xi64>
    %v27 = arith.constant 8 : index
    scf.yield %x, %v27 : index, index
  }
  return %v10 : i1
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, i64) {
  %v1 = arith.constant 3 : index
  %v2 = arith.constant 1 : index
  %v5 = scf.for %v3 = %v1 to %y step %v2 iter_args(%v4 = %w) -> (i64) {
    scf.yield %w : i64
  }
  %v6 = arith.constant false
  %v7 = arith.xori %c, %v6 : i1
  %v10 = scf.while (%v8 = %z) : (i64) -> (i64) {
    %v11 = arith.divsi %y, %x : index
    scf.condition(%c) %v8 : i64
  } do {
  ^bb0(%v9: i64):
    %v12 = arith.constant 5 : i64
    %v13 = arith.ceildivsi %v12, %v5 : i64
    %v14 = arith.index_cast %v13 : i64 to index
    %v15, %v16 = async.execute -> !async.value<i64> {
      %v17 = async.execute {
        %v18 = arith.cmpi sge, %x, %v14 : index
        async.yield
      }
      async.await %v17 : !async.token
      async.yield %z : i64
    }
    scf.yield %v9 : i64
  }
  return %v7, %v10 : i1, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  %v1 = arith.constant false
  %v2 = arith.xori %c, %v1 : i1
  %v3 = arith.constant 0 : i64
  %v4 = arith.divsi %z, %v3 : i64
  %v5 = arith.constant -1 : i64
  %v6 = arith.xori %w, %v5 : i64
  scf.if %v2 {
    %v7 = arith.constant true
    cf.assert %v7, "no"
    scf.yield
  }
  %v8 = memref.load %m[%x] : memref<?xi64>
  %v9 = arith.constant 0 : index
  %v10 = arith.constant 1 : index
  %v11 = arith.constant 1 : index
  scf.for %v12 = %v9 to %v10 step %v11 {
    %v15, %v16 = scf.while : () -> (index, i64) {
      %v17 = arith.constant true
      %v18 = arith.xori %v2, %v17 : i1
      scf.condition(%c) %v12, %v4 : index, i64
    } do {
    ^bb0(%v13: index, %v14: i64):
      scf.yield
    }
  }
  return %v2 : i1
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, i64) {
  %v1 = arith.constant false
  scf.if %v1 {
    %v2 = arith.select %c, %y, %y : index
    scf.yield
  }
  %v3 = arith.muli %z, %w : i64
  %v4 = arith.constant true
  %v5, %v6 = scf.if %v4 -> (i1, i1) {
    %v7 = arith.constant false
    scf.yield %v7, %c : i1, i1
  } else {
    %v8 = arith.index_cast %z : i64 to index
    %v9 = memref.load %m[%y] : memref<?xi64>
    %v10 = arith.constant false
    scf.yield %c, %v10 : i1, i1
  }
  scf.if %v5 {
    %v11 = arith.constant 8 : index
    %v12 = arith.andi %v11, %x : index
    %v13 = arith.constant false
    %v14 = arith.xori %c, %v13 : i1
    scf.yield
  } else {
    scf.yield
  }
  return %v6, %v3 : i1, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, index, i64) {
  %v1 = arith.constant -1 : i64
  %v2 = arith.select %c, %v1, %z : i64
  %v3 = arith.constant 2 : index
  %v4 = arith.constant 1 : index
  scf.for %v5 = %v3 to %v4 step %x {
    %v6 = arith.constant 0 : index
    %v7 = arith.constant 0 : index
    %v8 = arith.constant 2 : index
    %v9 = arith.constant -1 : i64
    %v13, %v14 = scf.for %v10 = %v6 to %v7 step %v8 iter_args(%v11 = %v5, %v12 = %v9) -> (index, i64) {
      scf.yield %v11, %z : index, i64
    }
  }
  %v15 = arith.index_cast %z : i64 to index
  %v16 = arith.constant 4 : index
  %v17 = arith.constant -1 : index
  %v18 = arith.constant 1 : index
  %v19 = arith.constant 5 : i64
  %v23, %v24 = scf.for %v20 = %v16 to %v17 step %v18 iter_args(%v21 = %v19, %v22 = %x) -> (i64, index) {
    %v25 = arith.constant 0 : index
    %v26 = arith.cmpi slt, %v20, %v25 : index
    %v27 = arith.constant 2 : i64
    %v28 = arith.constant 3 : index
    scf.yield %v27, %v28 : i64, index
  }
  %v29 = arith.constant true
  %v30 = arith.xori %c, %v29 : i1
  scf.if %c {
    scf.yield
  }
  return %v30, %v24, %v23 : i1, index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i64) {
  %v1 = arith.constant 5 : i64
  %v4 = scf.while (%v2 = %v1) : (i64) -> (i64) {
    %v5 = arith.constant 4 : index
    %v6 = arith.constant 1 : index
    scf.for %v7 = %x to %v5 step %v6 {
      %v8 = arith.constant 10 : index
      %v9 = arith.constant 8 : index
      %v10 = arith.constant 1 : index
      %v11 = arith.constant 5 : i64
      %v14 = scf.for %v12 = %v8 to %v9 step %v10 iter_args(%v13 = %v11) -> (i64) {
        %v15 = arith.constant -1 : i64
        memref.store %v15, %m[%x] : memref<?xi64>
        %v16 = memref.load %m[%v7] : memref<?xi64>
        scf.yield %v16 : i64
      }
    }
    scf.condition(%c) %z : i64
  } do {
  ^bb0(%v3: i64):
    %v17 = arith.constant -1 : i64
    scf.yield %v17 : i64
  }
  %v18 = memref.alloc(%x) : memref<?xi64>
  %v19 = arith.constant 0 : index
  memref.store %z, %v18[%v19] : memref<?xi64>
  %v20 = scf.if %c -> (i1) {
    %v21 = arith.constant 1 : index
    %v22 = arith.constant 1 : index
    %v23 = arith.constant -1 : i64
    %v27, %v28 = scf.for %v24 = %y to %v21 step %v22 iter_args(%v25 = %y, %v26 = %v23) -> (index, i64) {
      scf.yield %v25, %v4 : index, i64
    }
    %v29 = arith.constant false
    scf.yield %v29 : i1
  } else {
    scf.yield %c : i1
  }
  return %v4 : i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  %v1 = arith.constant 1 : i64
  func.call @use(%v1) : (i64) -> ()
  %v2 = arith.constant 2 : index
  scf.for %v3 = %x to %x step %v2 {
  }
  %v4 = func.call @get(%y) : (index) -> i1
  memref.store %w, %m[%x] : memref<?xi64>
  %v5 = arith.constant 2 : index
  memref.store %z, %m[%v5] : memref<?xi64>
  %v6 = arith.constant 3 : index
  %v7 = arith.constant 8 : index
  scf.for %v8 = %v6 to %v7 step %x {
    %v9 = arith.constant 1 : index
    %v10 = arith.constant 10 : index
    %v11 = arith.constant 1 : index
    scf.for %v12 = %v9 to %v10 step %v11 {
      %v13 = arith.ceildivsi %w, %w : i64
      %v14 = arith.constant 0 : i64
      %v15 = arith.muli %v14, %w : i64
    }
  }
  return %v4 : i1
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  %v1 = async.execute {
    cf.assert %c, "no"
    %v2 = async.execute {
      %v3 = arith.constant 4 : index
      %v4 = arith.constant 1 : index
      %v5 = arith.constant 8 : index
      %v8 = scf.for %v6 = %x to %v3 step %v4 iter_args(%v7 = %v5) -> (index) {
        scf.yield %y : index
      }
      %v9 = arith.constant 3 : index
      %v10 = arith.constant 8 : index
      %v11 = arith.constant 1 : index
      scf.for %v12 = %v9 to %v10 step %v11 {
      }
      %v13 = memref.load %m[%v8] : memref<?xi64>
      async.yield
    }
    async.yield
  }
  %v16 = scf.while (%v14 = %w) : (i64) -> (index) {
    %v17 = arith.constant true
    scf.if %v17 {
      scf.yield
    }
    scf.condition(%c) %x : index
  } do {
  ^bb0(%v15: index):
    %v18 = scf.execute_region -> index {
      scf.yield %v15 : index
    }
    scf.yield %w : i64
  }
  return %v16 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  %v1 = memref.alloc(%x) : memref<?xi64>
  memref.dealloc %v1 : memref<?xi64>
  memref.store %z, %m[%y] : memref<?xi64>
  %v2 = arith.constant 1 : index
  %v3 = arith.muli %v2, %y : index
  %v4 = arith.muli %v3, %x : index
  %v5 = arith.constant 2 : index
  %v6 = arith.constant 2 : index
  scf.for %v7 = %y to %v5 step %v6 {
    cf.assert %c, "no"
  }
  scf.while : () -> () {
    %v8 = arith.constant true
    %v9 = arith.xori %c, %v8 : i1
    scf.condition(%c)
  } do {
    %v10 = arith.constant false
    %v11 = arith.xori %c, %v10 : i1
    scf.yield
  }
  return %v4 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v3, %v4 = scf.while : () -> (index, index) {
    %v5 = memref.load %m[%x] : memref<?xi64>
    cf.assert %c, "no"
    scf.condition(%c) %x, %y : index, index
  } do {
  ^bb0(%v1: index, %v2: index):
    scf.while : () -> () {
      %v6 = scf.if %c -> (index) {
        scf.yield %v2 : index
      } else {
        %v7 = arith.constant 1 : i64
        %v8 = arith.subi %z, %v7 : i64
        scf.yield %v1 : index
      }
      scf.condition(%c)
    } do {
      %v11, %v12 = scf.while : () -> (i64, index) {
        scf.condition(%c) %w, %v2 : i64, index
      } do {
      ^bb0(%v9: i64, %v10: index):
        %v13 = memref.load %m[%v10] : memref<?xi64>
        scf.yield
      }
      scf.yield
    }
    scf.yield
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index, i64) {
  func.call @use(%w) : (i64) -> ()
  %v1 = memref.load %m[%y] : memref<?xi64>
  %v2 = arith.constant true
  %v3 = arith.constant 2 : index
  %v4 = arith.select %v2, %v3, %y : index
  %v5 = arith.constant 2 : i64
  %v6 = arith.constant 5 : i64
  %v7 = arith.ceildivsi %v5, %v6 : i64
  %v8 = arith.constant 2 : i64
  %v11 = scf.while (%v9 = %v8) : (i64) -> (i64) {
    %v12 = async.execute {
      scf.while (%v13 = %v4) : (index) -> () {
        %v14 = arith.cmpi ult, %y, %v4 : index
        %v15 = arith.xori %v4, %v4 : index
        scf.condition(%c)
      } do {
        scf.yield %v4 : index
      }
      async.yield
    }
    async.await %v12 : !async.token
    scf.condition(%c) %v1 : i64
  } do {
  ^bb0(%v10: i64):
    scf.yield %v7 : i64
  }
  return %v4, %v11 : index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1, %v2 = async.execute -> !async.value<i64> {
    %v3 = arith.constant true
    %v4 = arith.xori %c, %v3 : i1
    %v5 = async.execute {
      %v6 = arith.constant -1 : index
      %v7 = memref.load %m[%v6] : memref<?xi64>
      %v8 = arith.constant 1 : i64
      memref.store %v8, %m[%y] : memref<?xi64>
      %v9 = arith.constant 5 : i64
      %v13 = scf.while (%v10 = %v9, %v11 = %x) : (i64, index) -> (index) {
        %v14 = memref.load %m[%v11] : memref<?xi64>
        %v15 = memref.load %m[%v11] : memref<?xi64>
        %v16 = arith.constant false
        scf.condition(%v16) %v11 : index
      } do {
      ^bb0(%v12: index):
        %v17 = arith.constant 3 : index
        %v18 = arith.maxsi %y, %v17 : index
        scf.yield %w, %v12 : i64, index
      }
      async.yield
    }
    async.await %v5 : !async.token
    async.yield %w : i64
  }
  async.await %v1 : !async.token
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i64) {
  %v1 = arith.muli %y, %x : index
  %v2 = arith.muli %w, %w : i64
  %v3 = arith.maxsi %w, %v2 : i64
  %v4 = memref.load %m[%y] : memref<?xi64>
  %v5 = arith.constant 2 : index
  %v6 = memref.load %m[%v5] : memref<?xi64>
  %v7, %v8 = async.execute -> !async.value<i64> {
    memref.store %v6, %m[%y] : memref<?xi64>
    %v9 = arith.constant 5 : i64
    %v10 = arith.ceildivsi %v9, %v2 : i64
    %v11 = arith.constant 2 : index
    %v12 = arith.cmpi eq, %y, %v11 : index
    async.yield %v3 : i64
  }
  async.await %v7 : !async.token
  return %v6 : i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index, i64) {
  %v1 = arith.constant 10 : index
  %v2 = arith.muli %y, %v1 : index
  %v3, %v4 = scf.if %c -> (i64, index) {
    %v5 = arith.constant 10 : index
    scf.yield %w, %v5 : i64, index
  } else {
    %v6 = arith.constant 4 : index
    %v7 = arith.andi %y, %v6 : index
    %v8 = scf.if %c -> (index) {
      %v9 = async.create_group %y : !async.group
      async.await_all %v9
      %v10, %v11 = async.execute -> !async.value<i64> {
        %v12 = arith.addi %w, %z : i64
        %v13 = func.call @get(%v2) : (index) -> i1
        async.yield %v12 : i64
      }
      %v14 = arith.constant true
      cf.assert %v14, "no"
      %v15 = arith.constant 3 : index
      scf.yield %v15 : index
    } else {
      %v16 = arith.constant -1 : index
      scf.yield %v16 : index
    }
    scf.yield %z, %v2 : i64, index
  }
  return %v4, %v3 : index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index, i64) {
  %v1 = arith.constant 2 : index
  %v2 = arith.constant 3 : index
  %v3 = arith.ceildivsi %v1, %v2 : index
  memref.store %z, %m[%v3] : memref<?xi64>
  %v4 = arith.constant 3 : index
  %v5 = memref.load %m[%v4] : memref<?xi64>
  %v6 = async.execute {
    %v7 = memref.load %m[%x] : memref<?xi64>
    %v8 = arith.constant 5 : i64
    %v9 = arith.constant -1 : i64
    %v10 = arith.xori %v8, %v9 : i64
    async.yield
  }
  %v11 = arith.constant true
  %v12 = arith.xori %c, %v11 : i1
  %v13 = arith.constant -1 : index
  %v14 = arith.constant 1 : index
  scf.for %v15 = %v13 to %v3 step %v14 {
    %v16 = async.execute {
      async.yield
    }
  }
  return %v3, %v5 : index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, index) {
  %v1 = arith.constant -1 : i64
  memref.store %v1, %m[%y] : memref<?xi64>
  %v2 = arith.cmpi ult, %x, %y : index
  %v3 = arith.constant true
  %v4 = arith.constant 10 : index
  %v5 = arith.select %v3, %y, %v4 : index
  %v6, %v7 = scf.if %v2 -> (i1, i64) {
    %v10, %v11 = scf.while : () -> (i64, i64) {
      %v12 = async.execute {
        func.call @use(%z) : (i64) -> ()
        %v13 = arith.constant 0 : i64
        %v14 = arith.subi %v13, %w : i64
        %v15 = arith.constant 8 : index
        memref.store %v14, %m[%v15] : memref<?xi64>
        async.yield
      }
      scf.condition(%v2) %z, %z : i64, i64
    } do {
    ^bb0(%v8: i64, %v9: i64):
      scf.yield
    }
    %v16 = arith.constant true
    scf.yield %v16, %w : i1, i64
  } else {
    scf.yield %c, %z : i1, i64
  }
  return %v6, %v5 : i1, index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index, i64) {
  %v1 = func.call @get(%y) : (index) -> i1
  %v2 = arith.constant 2 : i64
  %v3 = arith.select %c, %w, %v2 : i64
  %v4, %v5 = scf.if %v1 -> (index, i1) {
    %v6 = arith.constant 0 : index
    %v7 = arith.muli %y, %v6 : index
    %v8 = func.call @get(%x) : (index) -> i1
    %v9 = arith.constant 0 : index
    %v10 = arith.constant true
    scf.yield %v9, %v10 : index, i1
  } else {
    %v11 = arith.constant 1 : index
    %v12 = arith.muli %v11, %x : index
    func.call @use(%v3) : (i64) -> ()
    %v13 = arith.constant 8 : index
    %v14 = arith.constant 0 : index
    scf.for %v15 = %v13 to %v14 step %x {
      %v16 = arith.constant 5 : i64
      %v17 = arith.constant -1 : i64
      %v18 = arith.subi %v16, %v17 : i64
    }
    scf.yield %x, %c : index, i1
  }
  return %v4, %v3 : index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, index, i64) {
  %v2 = arith.constant 8 : index
  %v1 = func.call @get(%v2) : (index) -> i1
  %v3 = arith.select %v1, %y, %y : index
  %v4 = arith.constant 10 : index
  %v5 = arith.constant 1 : index
  %v9, %v10 = scf.for %v6 = %v4 to %v3 step %v5 iter_args(%v7 = %w, %v8 = %x) -> (i64, index) {
    %v11 = arith.constant true
    %v12 = arith.xori %c, %v11 : i1
    %v13 = arith.constant 3 : index
    %v14 = arith.cmpi ult, %v13, %y : index
    %v15 = arith.constant 0 : index
    %v16 = arith.constant 1 : index
    scf.for %v17 = %v6 to %v15 step %v16 {
      %v18 = async.execute {
        %v19 = arith.constant true
        %v20 = arith.xori %v14, %v19 : i1
        async.yield
      }
      async.await %v18 : !async.token
    }
    scf.yield %w, %v8 : i64, index
  }
  return %v1, %v10, %v9 : i1, index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  scf.while : () -> () {
    %v1 = arith.index_cast %z : i64 to index
    %v2 = arith.constant 4 : index
    scf.for %v3 = %v2 to %x step %x {
      %v4 = arith.constant 1 : index
      %v5 = arith.xori %x, %v4 : index
    }
    scf.condition(%c)
  } do {
    %v6 = async.execute {
      %v7 = arith.constant 2 : i64
      memref.store %v7, %m[%x] : memref<?xi64>
      cf.assert %c, "no"
      %v8 = arith.constant 4 : index
      %v9 = arith.constant 2 : index
      %v12 = scf.for %v10 = %y to %y step %v8 iter_args(%v11 = %v9) -> (index) {
        func.call @use(%z) : (i64) -> ()
        scf.yield %v10 : index
      }
      async.yield
    }
    scf.yield
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.select %c, %z, %w : i64
  %v2 = memref.load %m[%x] : memref<?xi64>
  %v6 = scf.while (%v3 = %y, %v4 = %x) : (index, index) -> (i64) {
    %v7 = arith.constant -1 : index
    %v8 = arith.divsi %v7, %v3 : index
    %v9 = arith.constant false
    %v10 = scf.if %v9 -> (i1) {
      %v15, %v16 = scf.while (%v11 = %z, %v12 = %y) : (i64, index) -> (index, i64) {
        %v17 = arith.constant 0 : index
        %v18 = arith.maxsi %v17, %v8 : index
        scf.condition(%c) %v12, %z : index, i64
      } do {
      ^bb0(%v13: index, %v14: i64):
        %v19 = arith.constant 2 : i64
        %v20 = arith.index_cast %v19 : i64 to index
        scf.yield %v1, %v3 : i64, index
      }
      scf.yield %c : i1
    } else {
      scf.yield %c : i1
    }
    scf.condition(%c) %v2 : i64
  } do {
  ^bb0(%v5: i64):
    %v21 = arith.constant 0 : index
    scf.yield %v21, %y : index, index
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  %v1 = arith.constant 2 : index
  %v6, %v7 = scf.while (%v2 = %y, %v3 = %v1) : (index, index) -> (index, index) {
    %v8 = arith.constant 0 : index
    %v9 = arith.constant 2 : index
    %v10 = arith.cmpi eq, %v8, %v9 : index
    scf.condition(%v10) %x, %v3 : index, index
  } do {
  ^bb0(%v4: index, %v5: index):
    %v14 = scf.while (%v11 = %z, %v12 = %w) : (i64, i64) -> (index) {
      %v15 = scf.if %c -> (index) {
        %v16 = arith.constant true
        %v17 = arith.constant 5 : i64
        %v18 = arith.select %v16, %v12, %v17 : i64
        %v19 = arith.cmpi slt, %v4, %y : index
        scf.yield %v4 : index
      } else {
        %v20 = arith.constant true
        %v21 = arith.xori %c, %v20 : i1
        %v22 = arith.constant 0 : index
        %v23 = arith.constant 0 : index
        %v24 = arith.addi %v22, %v23 : index
        scf.yield %v5 : index
      }
      scf.condition(%c) %x : index
    } do {
    ^bb0(%v13: index):
      scf.yield %w, %w : i64, i64
    }
    scf.yield %v5, %y : index, index
  }
  return %v7 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  %v1, %v2 = scf.if %c -> (index, i1) {
    scf.yield %y, %c : index, i1
  } else {
    %v3 = arith.muli %y, %y : index
    %v4, %v5 = async.execute -> !async.value<i64> {
      func.call @use(%z) : (i64) -> ()
      func.call @use(%z) : (i64) -> ()
      %v6 = arith.constant false
      %v7 = arith.xori %c, %v6 : i1
      %v8 = arith.constant 2 : i64
      async.yield %v8 : i64
    }
    %v9 = arith.constant 1 : index
    %v10 = arith.constant true
    scf.yield %v9, %v10 : index, i1
  }
  %v11 = arith.constant true
  %v12 = scf.if %v11 -> (i1) {
    %v13 = arith.constant 8 : index
    %v14 = arith.cmpi eq, %y, %v13 : index
    %v15 = async.create_group %x : !async.group
    async.await_all %v15
    scf.yield %c : i1
  } else {
    scf.yield %c : i1
  }
  return %v12 : i1
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, index, i64) {
  %v1 = arith.constant false
  %v2 = arith.xori %c, %v1 : i1
  func.call @use(%w) : (i64) -> ()
  %v5, %v6 = scf.while : () -> (index, i64) {
    %v7 = arith.constant 3 : index
    %v10 = scf.while (%v8 = %v7) : (index) -> (index) {
      %v11 = scf.if %c -> (i1) {
        %v12 = arith.constant 5 : i64
        %v13 = arith.maxsi %v12, %w : i64
        scf.yield %v2 : i1
      } else {
        %v14 = arith.constant 0 : i64
        %v15 = arith.andi %z, %v14 : i64
        scf.yield %v2 : i1
      }
      func.call @use(%z) : (i64) -> ()
      scf.condition(%v11) %y : index
    } do {
    ^bb0(%v9: index):
      scf.yield %v9 : index
    }
    scf.condition(%v2) %y, %z : index, i64
  } do {
  ^bb0(%v3: index, %v4: i64):
    scf.yield
  }
  return %v2, %v5, %v6 : i1, index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i64) {
  cf.assert %c, "no"
  %v1, %v2 = async.execute -> !async.value<i64> {
    async.yield %w : i64
  }
  %v4, %v5 = async.execute (%v2 as %v3: !async.value<i64>) -> !async.value<i64> {
    async.yield %w : i64
  }
  memref.store %z, %m[%y] : memref<?xi64>
  %v6 = scf.if %c -> (i64) {
    scf.yield %w : i64
  } else {
    func.call @use(%w) : (i64) -> ()
    %v7 = arith.constant false
    %v8, %v9 = scf.if %v7 -> (index, i1) {
      %v10 = scf.if %c -> (index) {
        %v11 = memref.load %m[%y] : memref<?xi64>
        scf.yield %y : index
      } else {
        scf.yield %x : index
      }
      scf.yield %v10, %c : index, i1
    } else {
      scf.yield %x, %c : index, i1
    }
    scf.yield %z : i64
  }
  return %v6 : i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i64) {
  %v1 = arith.constant 2 : i64
  %v6, %v7 = scf.while (%v2 = %v1, %v3 = %x) : (i64, index) -> (index, i64) {
    %v8 = arith.constant -1 : index
    %v9 = memref.alloc(%v8) : memref<?xi64>
    %v10 = arith.constant -1 : i64
    memref.store %v10, %v9[%y] : memref<?xi64>
    memref.dealloc %v9 : memref<?xi64>
    scf.condition(%c) %x, %z : index, i64
  } do {
  ^bb0(%v4: index, %v5: i64):
    %v11 = arith.constant 5 : i64
    %v12 = arith.index_cast %v11 : i64 to index
    %v13 = arith.constant 8 : index
    scf.yield %v5, %v13 : i64, index
  }
  %v14, %v15 = scf.if %c -> (i1, i1) {
    scf.yield %c, %c : i1, i1
  } else {
    %v16 = arith.constant 4 : index
    %v17 = memref.load %m[%v16] : memref<?xi64>
    %v18 = arith.constant 2 : index
    %v19 = memref.load %m[%v18] : memref<?xi64>
    scf.yield %c, %c : i1, i1
  }
  %v20 = arith.andi %x, %y : index
  %v21 = arith.constant 4 : index
  memref.store %v7, %m[%v21] : memref<?xi64>
  %v22 = arith.cmpi sge, %v20, %x : index
  return %v7 : i64
}
