// pipeline: builtin.module(canonicalize)
// pipeline: builtin.module(cse)
// pipeline: builtin.module(convert-scf-to-cf,canonicalize)
// pipeline: builtin.module(canonicalize,cse,symbol-dce)
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.constant false
  scf.if %v1 {
    scf.if %c {
      %v2 = arith.constant 4 : index
      %v5 = scf.while (%v3 = %v2) : (index) -> (i64) {
        func.call @use(%z) : (i64) -> ()
        %v6 = arith.constant false
        scf.condition(%v6) %w : i64
      } do {
      ^bb0(%v4: i64):
        %v7 = arith.constant false
        scf.if %v7 {
          %v8 = arith.constant 5 : i64
          func.call @use(%v8) : (i64) -> ()
          scf.yield
        } else {
          scf.yield
        }
        scf.yield %x : index
      }
      scf.yield
    } else {
      memref.store %z, %m[%y] : memref<?xi64>
      scf.yield
    }
    scf.yield
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, i64) {
  %v1 = arith.constant true
  %v2 = arith.xori %c, %v1 : i1
  %v3 = arith.constant 8 : index
  %v4 = arith.constant -1 : index
  %v5 = arith.cmpi ult, %v3, %v4 : index
  %v6 = arith.constant 0 : i64
  %v7 = arith.subi %v6, %w : i64
  %v8, %v9 = scf.if %v5 -> (i1, i1) {
    %v10 = arith.constant 5 : i64
    memref.store %v10, %m[%y] : memref<?xi64>
    %v11 = arith.constant 4 : index
    %v12 = arith.constant 1 : index
    scf.for %v13 = %v11 to %x step %v12 {
    }
    %v14 = arith.constant false
    scf.yield %v14, %v5 : i1, i1
  } else {
    scf.yield %v2, %v2 : i1, i1
  }
  return %v9, %v7 : i1, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  %v1 = arith.constant 1 : index
  %v6, %v7 = scf.while (%v2 = %z, %v3 = %v1) : (i64, index) -> (index, i64) {
    %v8 = arith.ceildivsi %x, %x : index
    %v9 = memref.alloc(%x) : memref<?xi64>
    %v10 = arith.constant 5 : i64
    memref.store %v10, %v9[%y] : memref<?xi64>
    scf.condition(%c) %y, %w : index, i64
  } do {
  ^bb0(%v4: index, %v5: i64):
    %v11 = arith.constant -1 : i64
    scf.yield %v11, %x : i64, index
  }
  scf.if %c {
    %v12 = arith.constant 2 : i64
    %v17, %v18 = scf.while (%v13 = %v6, %v14 = %v12) : (index, i64) -> (i64, i64) {
      %v19 = arith.constant 3 : index
      %v20 = memref.alloc(%v19) : memref<?xi64>
      %v21 = arith.constant 1 : i64
      %v22 = arith.constant 3 : index
      memref.store %v21, %v20[%v22] : memref<?xi64>
      memref.dealloc %v20 : memref<?xi64>
      scf.condition(%c) %z, %z : i64, i64
    } do {
    ^bb0(%v15: i64, %v16: i64):
      %v24 = arith.constant 10 : index
      %v23 = func.call @get(%v24) : (index) -> i1
      scf.yield %y, %v7 : index, i64
    }
    scf.yield
  } else {
    scf.yield
  }
  return %v6 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  %v1 = arith.addi %x, %x : index
  scf.execute_region {
    %v2 = arith.constant 10 : index
    %v3 = arith.constant 2 : index
    %v4 = arith.subi %v2, %v3 : index
    %v5 = arith.constant -1 : i64
    %v6 = arith.select %c, %v5, %w : i64
    %v7 = arith.constant 1 : index
    %v8 = arith.constant -1 : index
    %v9 = arith.constant 2 : index
    %v10 = arith.constant 1 : index
    %v11 = arith.constant 1 : index
    scf.parallel (%v12, %v13, %v14) = (%y, %v8, %x) to (%v7, %v1, %v10) step (%x, %v9, %v11) {
      %v15 = arith.constant -1 : i64
      %v16 = arith.index_cast %v15 : i64 to index
      scf.reduce
    }
    scf.yield
  }
  %v17 = arith.constant 10 : index
  %v18 = arith.constant -1 : index
  %v19 = arith.constant 3 : index
  scf.for %v20 = %v17 to %v18 step %v19 {
  }
  return %v1 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 3 : index
  scf.parallel (%v3) = (%v1) to (%v2) step (%x) {
    %v4 = arith.constant 0 : index
    %v5 = arith.constant 8 : index
    %v6 = arith.constant 3 : index
    %v7 = arith.constant 10 : index
    %v11, %v12 = scf.for %v8 = %v4 to %v5 step %v6 iter_args(%v9 = %z, %v10 = %v7) -> (i64, index) {
      %v13 = arith.constant 8 : index
      %v14 = memref.load %m[%v13] : memref<?xi64>
      %v15 = arith.constant 2 : i64
      scf.yield %v15, %x : i64, index
    }
    scf.reduce
  }
  %v16 = arith.constant 4 : index
  %v17 = arith.constant 2 : i64
  memref.store %v17, %m[%v16] : memref<?xi64>
  %v18 = arith.constant false
  %v19 = arith.xori %c, %v18 : i1
  return %v19 : i1
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.constant 3 : index
  %v2 = arith.cmpi ne, %y, %v1 : index
  scf.if %c {
    %v4 = scf.while : () -> (index) {
      scf.if %v2 {
        scf.yield
      } else {
        %v5 = arith.constant 0 : i64
        func.call @use(%v5) : (i64) -> ()
        %v7 = arith.constant 4 : index
        %v6 = func.call @get(%v7) : (index) -> i1
        scf.yield
      }
      %v8 = arith.constant true
      scf.condition(%v8) %y : index
    } do {
    ^bb0(%v3: index):
      %v9 = arith.maxsi %y, %v3 : index
      scf.yield
    }
    scf.yield
  } else {
    scf.yield
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  func.call @use(%z) : (i64) -> ()
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 4 : index
  scf.parallel (%v3) = (%v1) to (%x) step (%v2) {
    scf.reduce
  }
  %v4 = memref.load %m[%x] : memref<?xi64>
  %v5 = arith.ceildivsi %z, %z : i64
  %v6 = arith.constant false
  scf.if %v6 {
    scf.if %c {
      scf.yield
    } else {
      memref.store %v4, %m[%y] : memref<?xi64>
      scf.yield
    }
    scf.yield
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.constant 3 : index
  %v2 = arith.constant 10 : index
  %v3 = arith.addi %v1, %v2 : index
  %v4 = arith.constant 1 : index
  %v5 = arith.cmpi sge, %v4, %x : index
  scf.if %v5 {
    %v6 = arith.constant 1 : index
    %v7 = arith.constant 1 : index
    scf.parallel (%v8) = (%x) to (%v6) step (%v7) {
      scf.reduce
    }
    scf.yield
  } else {
    %v9 = arith.constant 4 : index
    %v10 = arith.divsi %v9, %y : index
    scf.yield
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  %v2 = scf.while : () -> (index) {
    %v3 = arith.constant 1 : index
    %v4 = arith.constant 3 : index
    %v8, %v9 = scf.for %v5 = %x to %y step %v3 iter_args(%v6 = %y, %v7 = %v4) -> (index, index) {
      %v10 = arith.addi %x, %x : index
      %v11 = arith.constant 1 : index
      %v12 = arith.constant 10 : index
      %v13 = arith.constant 10 : index
      %v14 = arith.constant 1 : index
      scf.parallel (%v15, %v16) = (%x, %v12) to (%v5, %v13) step (%v11, %v14) {
        scf.reduce
      }
      scf.yield %v7, %v10 : index, index
    }
    %v17 = arith.constant true
    %v18 = arith.xori %c, %v17 : i1
    %v19 = arith.constant false
    %v20 = arith.constant 0 : index
    scf.condition(%v19) %v20 : index
  } do {
  ^bb0(%v1: index):
    scf.if %c {
      %v21 = scf.execute_region -> i64 {
        scf.yield %w : i64
      }
      scf.yield
    }
    scf.yield
  }
  return %v2 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  memref.store %z, %m[%y] : memref<?xi64>
  scf.if %c {
    scf.yield
  } else {
    scf.yield
  }
  %v1 = arith.constant false
  %v2 = arith.select %v1, %x, %x : index
  %v3 = arith.constant 2 : index
  %v4 = arith.constant 0 : index
  %v5 = arith.constant 10 : index
  scf.parallel (%v6, %v7) = (%y, %v4) to (%x, %v5) step (%v3, %x) {
    %v8 = arith.constant 2 : index
    %v9 = arith.constant 4 : index
    scf.for %v10 = %v2 to %v8 step %v9 {
      func.call @use(%w) : (i64) -> ()
    }
    scf.reduce
  }
  return %v2 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index, i64) {
  %v1 = arith.constant 10 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 3 : index
  %v7, %v8 = scf.for %v4 = %v1 to %v2 step %v3 iter_args(%v5 = %w, %v6 = %y) -> (i64, index) {
    %v9 = memref.load %m[%x] : memref<?xi64>
    %v10 = scf.if %c -> (index) {
      %v11 = func.call @get(%v6) : (index) -> i1
      scf.yield %v6 : index
    } else {
      %v12 = arith.constant -1 : i64
      scf.while (%v13 = %v12, %v14 = %v5) : (i64, i64) -> () {
        %v15 = arith.constant 2 : i64
        memref.store %v15, %m[%v4] : memref<?xi64>
        scf.condition(%c)
      } do {
        scf.yield %z, %z : i64, i64
      }
      %v16 = arith.constant 3 : index
      scf.yield %v16 : index
    }
    scf.yield %z, %v6 : i64, index
  }
  return %v8, %v7 : index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 4 : index
  %v4 = arith.constant 1 : index
  %v5 = arith.constant 0 : index
  %v6 = arith.constant 3 : index
  scf.parallel (%v7, %v8, %v9) = (%x, %y, %v5) to (%v1, %v3, %x) step (%v2, %v4, %v6) {
    scf.reduce
  }
  %v10 = arith.constant 3 : index
  %v11 = arith.constant 3 : index
  scf.for %v12 = %y to %v10 step %v11 {
  }
  %v13 = arith.constant 4 : index
  %v14 = arith.subi %v13, %y : index
  %v15 = memref.load %m[%v14] : memref<?xi64>
  %v16 = arith.constant 8 : index
  %v17 = arith.constant 2 : index
  %v18 = arith.constant 8 : index
  %v19 = arith.constant 1 : index
  %v20 = arith.constant 4 : index
  %v21 = arith.constant 8 : index
  %v22 = arith.constant 3 : index
  scf.parallel (%v23, %v24, %v25) = (%x, %v14, %v20) to (%v16, %v18, %v21) step (%v17, %v19, %v22) {
    scf.reduce
  }
  %v26 = arith.constant 1 : index
  %v27 = arith.constant 1 : i64
  memref.store %v27, %m[%v26] : memref<?xi64>
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 0 : index
  %v3 = arith.cmpi slt, %v1, %v2 : index
  %v4 = arith.constant 1 : i64
  func.call @use(%v4) : (i64) -> ()
  %v5 = arith.constant 5 : i64
  memref.store %v5, %m[%y] : memref<?xi64>
  %v6 = arith.ceildivsi %y, %x : index
  %v7 = arith.constant 3 : index
  %v8 = arith.constant 2 : index
  %v11 = scf.for %v9 = %v7 to %y step %v8 iter_args(%v10 = %z) -> (i64) {
    %v12 = arith.constant 10 : index
    %v13 = arith.xori %x, %v12 : index
    scf.yield %z : i64
  }
  %v14 = arith.constant 0 : index
  %v15 = arith.constant 3 : index
  %v16 = arith.constant 3 : index
  scf.for %v17 = %v14 to %v15 step %v16 {
  }
  return %v3 : i1
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index, i64) {
  %v1 = arith.constant 8 : index
  %v2 = arith.constant 1 : index
  %v5 = scf.for %v3 = %y to %v1 step %v2 iter_args(%v4 = %z) -> (i64) {
    %v6 = arith.constant 0 : i64
    scf.yield %v6 : i64
  }
  %v7 = arith.constant -1 : index
  %v8 = arith.constant 4 : index
  %v9 = arith.constant 3 : index
  %v10 = arith.constant 2 : index
  %v11 = arith.constant 0 : index
  %v15, %v16 = scf.for %v12 = %v7 to %v8 step %v9 iter_args(%v13 = %v10, %v14 = %v11) -> (index, index) {
    scf.yield %x, %v12 : index, index
  }
  %v17 = arith.maxsi %v16, %y : index
  %v18 = arith.constant true
  %v19 = scf.if %v18 -> (index) {
    %v20 = arith.constant 8 : index
    scf.yield %v20 : index
  } else {
    %v21 = memref.load %m[%v17] : memref<?xi64>
    %v22 = arith.constant 4 : index
    scf.yield %v22 : index
  }
  %v23 = arith.constant false
  scf.if %v23 {
    scf.yield
  }
  %v24 = arith.constant -1 : index
  %v25 = arith.constant 4 : index
  scf.parallel (%v26) = (%v24) to (%v25) step (%x) {
    scf.reduce
  }
  return %v19, %v5 : index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  %v1 = arith.constant true
  scf.if %v1 {
    %v2 = arith.cmpi ult, %x, %y : index
    %v3 = arith.constant 8 : index
    %v4 = arith.constant 1 : index
    %v5 = arith.constant 2 : index
    %v6 = arith.constant 1 : index
    %v7 = arith.constant -1 : index
    %v8 = arith.constant 8 : index
    %v9 = arith.constant 3 : index
    scf.parallel (%v10, %v11, %v12) = (%y, %v5, %v7) to (%v3, %v6, %v8) step (%v4, %x, %v9) {
      scf.reduce
    }
    %v16, %v17 = scf.while (%v13 = %z) : (i64) -> (i64, i64) {
      %v18 = arith.constant false
      %v19 = arith.xori %v2, %v18 : i1
      %v20 = arith.cmpi slt, %x, %x : index
      scf.condition(%v19) %w, %z : i64, i64
    } do {
    ^bb0(%v14: i64, %v15: i64):
      scf.yield %v15 : i64
    }
    scf.yield
  }
  %v21 = arith.constant 1 : i64
  %v22 = arith.index_cast %v21 : i64 to index
  return %v22 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, i64) {
  %v1 = arith.subi %z, %w : i64
  %v2 = arith.constant 3 : index
  memref.store %w, %m[%v2] : memref<?xi64>
  %v3 = arith.constant -1 : index
  %v4 = arith.constant 3 : index
  scf.parallel (%v5) = (%v3) to (%y) step (%v4) {
    scf.reduce
  }
  %v6 = arith.constant false
  %v7 = arith.xori %c, %v6 : i1
  scf.while : () -> () {
    %v8 = arith.constant 0 : index
    %v9 = arith.constant 1 : index
    %v10 = arith.constant 4 : index
    %v11 = arith.constant 1 : i64
    %v15, %v16 = scf.for %v12 = %v8 to %v9 step %v10 iter_args(%v13 = %v11, %v14 = %y) -> (i64, index) {
      scf.yield %w, %v14 : i64, index
    }
    %v17 = arith.ceildivsi %z, %v1 : i64
    scf.condition(%c)
  } do {
    scf.yield
  }
  return %v7, %v1 : i1, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, i64) {
  %v1 = func.call @get(%y) : (index) -> i1
  %v2 = arith.constant 3 : index
  %v3 = memref.load %m[%v2] : memref<?xi64>
  %v4 = arith.constant false
  %v5 = scf.if %v4 -> (i1) {
    %v6 = arith.constant 2 : i64
    func.call @use(%v6) : (i64) -> ()
    scf.yield %v1 : i1
  } else {
    %v9 = scf.while (%v7 = %y) : (index) -> (i64) {
      scf.condition(%v1) %w : i64
    } do {
    ^bb0(%v8: i64):
      %v10 = arith.constant 4 : index
      scf.yield %v10 : index
    }
    scf.yield %v1 : i1
  }
  return %v5, %v3 : i1, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  func.call @use(%z) : (i64) -> ()
  %v1 = arith.constant 2 : index
  %v2 = arith.constant 4 : index
  %v3 = arith.cmpi ult, %v1, %v2 : index
  %v4 = arith.constant 0 : index
  %v5 = arith.constant 2 : index
  scf.for %v6 = %v4 to %x step %v5 {
    %v7 = arith.constant -1 : i64
    %v8 = arith.subi %v7, %z : i64
    %v9 = scf.if %v3 -> (i1) {
      scf.yield %v3 : i1
    } else {
      %v10 = arith.constant -1 : index
      %v11 = arith.constant 2 : index
      %v14 = scf.for %v12 = %y to %v10 step %v11 iter_args(%v13 = %w) -> (i64) {
        %v15 = arith.constant 2 : i64
        scf.yield %v15 : i64
      }
      scf.yield %v3 : i1
    }
  }
  return %v3 : i1
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.select %c, %w, %z : i64
  %v2 = arith.index_cast %w : i64 to index
  %v3 = arith.constant 2 : index
  %v4 = arith.constant 1 : index
  %v5 = arith.constant 1 : index
  %v6 = arith.constant 2 : index
  %v7 = arith.constant 0 : index
  %v8 = arith.constant 1 : index
  scf.parallel (%v9, %v10) = (%v3, %v6) to (%v4, %v7) step (%v5, %v8) {
    %v11 = arith.constant 0 : index
    memref.store %v1, %m[%v11] : memref<?xi64>
    scf.reduce
  }
  %v12 = scf.if %c -> (i1) {
    func.call @use(%z) : (i64) -> ()
    scf.yield %c : i1
  } else {
    %v13 = arith.constant -1 : index
    %v14 = arith.constant 1 : index
    scf.for %v15 = %v13 to %v14 step %x {
    }
    scf.yield %c : i1
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index, i64) {
  %v1 = arith.constant 4 : index
  scf.for %v2 = %x to %y step %v1 {
    %v3 = arith.constant 0 : index
    %v4 = memref.load %m[%v3] : memref<?xi64>
  }
  %v5 = arith.addi %y, %y : index
  %v6 = arith.muli %y, %x : index
  %v7 = memref.load %m[%y] : memref<?xi64>
  %v9 = scf.while : () -> (i64) {
    %v10 = arith.xori %x, %y : index
    scf.condition(%c) %w : i64
  } do {
  ^bb0(%v8: i64):
    scf.yield
  }
  return %v6, %v9 : index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.constant 10 : index
  memref.store %z, %m[%v1] : memref<?xi64>
  %v2 = arith.constant false
  scf.if %v2 {
    %v3 = arith.constant 3 : index
    scf.parallel (%v4) = (%y) to (%x) step (%v3) {
      scf.reduce
    }
    scf.execute_region {
      scf.yield
    }
    %v5 = memref.load %m[%x] : memref<?xi64>
    scf.yield
  }
  %v6 = arith.andi %y, %x : index
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v2 = arith.constant 2 : index
  %v1 = func.call @get(%v2) : (index) -> i1
  scf.if %c {
    %v3, %v4 = scf.if %v1 -> (i1, index) {
      %v5 = arith.constant true
      scf.if %v5 {
        scf.yield
      }
      %v6 = arith.constant false
      %v7 = scf.if %v6 -> (i64) {
        %v8 = arith.divsi %y, %y : index
        %v9 = memref.load %m[%y] : memref<?xi64>
        scf.yield %w : i64
      } else {
        scf.yield %z : i64
      }
      scf.yield %v1, %y : i1, index
    } else {
      %v10 = arith.constant false
      scf.yield %v10, %x : i1, index
    }
    scf.yield
  } else {
    scf.yield
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, index, i64) {
  %v1 = arith.constant true
  %v2 = arith.xori %c, %v1 : i1
  %v3 = arith.constant 5 : i64
  %v7, %v8 = scf.while (%v4 = %v3) : (i64) -> (index, i64) {
    %v9 = arith.maxsi %y, %x : index
    scf.condition(%v2) %y, %z : index, i64
  } do {
  ^bb0(%v5: index, %v6: i64):
    memref.store %z, %m[%x] : memref<?xi64>
    %v10 = scf.execute_region -> index {
      %v11 = arith.constant true
      %v12 = arith.select %v11, %w, %z : i64
      scf.yield %x : index
    }
    scf.yield %v6 : i64
  }
  return %v2, %v7, %v8 : i1, index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 3 : index
  %v7, %v8 = scf.for %v4 = %v1 to %y step %v2 iter_args(%v5 = %y, %v6 = %v3) -> (index, index) {
    %v9 = arith.constant 0 : index
    scf.yield %y, %v9 : index, index
  }
  %v10 = arith.subi %y, %y : index
  %v11 = arith.constant 8 : index
  %v12 = arith.constant 8 : index
  %v13 = arith.ceildivsi %v11, %v12 : index
  %v14 = arith.cmpi ult, %v7, %v10 : index
  %v15 = arith.constant true
  %v16, %v17 = scf.if %v15 -> (i1, index) {
    %v18 = arith.constant 8 : index
    %v19 = arith.cmpi ne, %v8, %v18 : index
    scf.yield %v14, %y : i1, index
  } else {
    %v20 = arith.constant 0 : i64
    %v21 = arith.divsi %z, %v20 : i64
    %v22 = arith.constant false
    scf.yield %v22, %y : i1, index
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, i64) {
  memref.store %z, %m[%x] : memref<?xi64>
  %v1 = memref.load %m[%y] : memref<?xi64>
  %v2 = arith.cmpi ne, %x, %y : index
  %v3 = arith.constant -1 : i64
  func.call @use(%v3) : (i64) -> ()
  %v4, %v5 = scf.if %v2 -> (i1, i1) {
    %v6 = arith.constant true
    %v7 = arith.xori %v2, %v6 : i1
    scf.yield %v7, %v7 : i1, i1
  } else {
    scf.yield %c, %v2 : i1, i1
  }
  return %v5, %v1 : i1, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, index, i64) {
  %v1 = arith.constant 4 : index
  %v2 = arith.constant 1 : index
  scf.parallel (%v3) = (%x) to (%v1) step (%v2) {
    scf.reduce
  }
  %v4 = memref.load %m[%y] : memref<?xi64>
  %v5 = arith.constant -1 : index
  %v6 = arith.cmpi ult, %y, %v5 : index
  %v7 = arith.constant true
  %v8 = arith.constant 0 : index
  %v9 = arith.constant -1 : index
  %v10 = arith.select %v7, %v8, %v9 : index
  %v11 = arith.cmpi slt, %v10, %y : index
  %v12 = arith.constant false
  %v13 = scf.if %v12 -> (i1) {
    scf.yield %v6 : i1
  } else {
    scf.yield %v6 : i1
  }
  return %v13, %v10, %v4 : i1, index, i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 2 : index
  %v3 = arith.constant 0 : i64
  %v7, %v8 = scf.for %v4 = %x to %y step %v1 iter_args(%v5 = %v2, %v6 = %v3) -> (index, i64) {
    %v9 = arith.constant 0 : index
    %v13, %v14 = scf.while (%v10 = %v9) : (index) -> (index, i64) {
      memref.store %v6, %m[%v10] : memref<?xi64>
      %v15 = arith.cmpi slt, %v10, %y : index
      scf.condition(%v15) %v5, %z : index, i64
    } do {
    ^bb0(%v11: index, %v12: i64):
      scf.yield %v5 : index
    }
    %v16 = arith.constant 5 : i64
    %v17 = arith.maxsi %w, %v16 : i64
    %v18 = arith.constant 0 : index
    scf.yield %v18, %w : index, i64
  }
  %v19 = arith.constant true
  scf.if %v19 {
    memref.store %w, %m[%y] : memref<?xi64>
    scf.yield
  } else {
    scf.yield
  }
  return %v7 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.constant 1 : i64
  memref.store %v1, %m[%x] : memref<?xi64>
  %v2 = arith.constant -1 : index
  %v3 = arith.cmpi eq, %y, %v2 : index
  %v4 = scf.if %v3 -> (i64) {
    scf.yield %z : i64
  } else {
    scf.yield %w : i64
  }
  scf.if %c {
    scf.yield
  } else {
    scf.yield
  }
  %v5 = arith.constant false
  %v6 = scf.if %v5 -> (i1) {
    scf.if %c {
      scf.yield
    } else {
      scf.yield
    }
    scf.yield %v3 : i1
  } else {
    scf.yield %c : i1
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = scf.execute_region -> index {
    %v2 = arith.constant 1 : index
    %v3 = arith.constant 1 : index
    %v4 = arith.constant 1 : index
    %v5 = arith.constant 0 : index
    %v9, %v10 = scf.for %v6 = %v2 to %v3 step %v4 iter_args(%v7 = %v5, %v8 = %x) -> (index, index) {
      %v11 = arith.constant true
      scf.if %v11 {
        %v12 = arith.constant false
        %v13 = arith.select %v12, %z, %z : i64
        %v14 = arith.constant true
        %v15 = arith.xori %c, %v14 : i1
        %v16 = func.call @get(%v6) : (index) -> i1
        scf.yield
      }
      %v17 = arith.constant -1 : index
      %v18 = arith.constant 2 : index
      %v19 = arith.xori %v17, %v18 : index
      scf.yield %v8, %y : index, index
    }
    scf.yield %y : index
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  %v1 = memref.load %m[%y] : memref<?xi64>
  %v3 = arith.constant 4 : index
  %v2 = func.call @get(%v3) : (index) -> i1
  %v4 = arith.constant 5 : i64
  %v5 = arith.subi %v4, %w : i64
  %v6 = arith.constant 8 : index
  %v7 = arith.constant 0 : index
  %v8 = arith.constant 1 : index
  scf.parallel (%v9) = (%v6) to (%v7) step (%v8) {
    scf.reduce
  }
  scf.if %v2 {
    scf.yield
  } else {
    %v10 = arith.constant 8 : index
    %v11 = arith.constant 4 : index
    scf.for %v12 = %x to %v10 step %v11 {
    }
    scf.yield
  }
  return %v2 : i1
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i64) {
  %v1 = arith.constant 4 : index
  %v2 = memref.alloc(%v1) : memref<?xi64>
  memref.store %w, %v2[%y] : memref<?xi64>
  %v3 = arith.constant 3 : index
  %v4 = memref.load %m[%v3] : memref<?xi64>
  %v5 = scf.execute_region -> i64 {
    %v6 = arith.constant 4 : index
    %v7 = arith.constant 4 : index
    %v8 = arith.constant 1 : index
    %v12, %v13 = scf.for %v9 = %v6 to %v7 step %v8 iter_args(%v10 = %w, %v11 = %w) -> (i64, i64) {
      %v14 = arith.constant 8 : index
      %v15 = memref.load %m[%v14] : memref<?xi64>
      scf.yield %w, %v11 : i64, i64
    }
    scf.yield %z : i64
  }
  %v16 = arith.constant -1 : i64
  %v17 = arith.muli %w, %v16 : i64
  return %v17 : i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = memref.load %m[%y] : memref<?xi64>
  %v2 = arith.constant 1 : i64
  %v5 = scf.while (%v3 = %v2) : (i64) -> (i64) {
    %v6 = arith.constant 1 : index
    scf.while (%v7 = %v6) : (index) -> () {
      %v8 = arith.index_cast %v1 : i64 to index
      %v9 = arith.constant true
      scf.condition(%v9)
    } do {
      %v10 = arith.xori %w, %v1 : i64
      %v11 = arith.constant 0 : index
      memref.store %v3, %m[%v11] : memref<?xi64>
      scf.yield %x : index
    }
    scf.condition(%c) %z : i64
  } do {
  ^bb0(%v4: i64):
    scf.yield %z : i64
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) {
  %v1 = arith.constant true
  %v2 = arith.xori %c, %v1 : i1
  %v3 = arith.constant 3 : index
  scf.parallel (%v4) = (%v3) to (%x) step (%x) {
    %v6 = arith.constant 1 : index
    %v5 = func.call @get(%v6) : (index) -> i1
    func.call @use(%w) : (i64) -> ()
    scf.reduce
  }
  %v7 = scf.execute_region -> i64 {
    %v8 = arith.select %v2, %z, %w : i64
    func.call @use(%v8) : (i64) -> ()
    scf.yield %w : i64
  }
  return
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i64) {
  scf.if %c {
    scf.yield
  } else {
    scf.yield
  }
  %v1 = arith.andi %z, %z : i64
  scf.if %c {
    scf.execute_region {
      scf.yield
    }
    %v2 = arith.constant false
    %v3 = arith.xori %c, %v2 : i1
    scf.yield
  }
  %v4 = arith.cmpi ult, %y, %x : index
  return %v1 : i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  %v1 = arith.constant true
  %v2 = scf.if %v1 -> (i1) {
    %v3 = memref.alloc(%y) : memref<?xi64>
    %v4 = arith.constant 1 : index
    %v5 = arith.constant 2 : index
    %v6 = arith.constant 1 : index
    scf.parallel (%v7) = (%v4) to (%v5) step (%v6) {
      scf.reduce
    }
    scf.yield %c : i1
  } else {
    %v8 = arith.constant true
    scf.yield %v8 : i1
  }
  %v9 = arith.constant 4 : index
  scf.parallel (%v10) = (%v9) to (%y) step (%x) {
    %v11 = arith.constant 10 : index
    %v12 = arith.cmpi slt, %v11, %y : index
    scf.reduce
  }
  cf.assert %c, "no"
  return %v2 : i1
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  %v1 = memref.load %m[%y] : memref<?xi64>
  %v2 = arith.divsi %w, %z : i64
  %v3 = arith.constant -1 : i64
  %v4 = arith.index_cast %v3 : i64 to index
  cf.assert %c, "no"
  %v5 = arith.constant 1 : index
  %v6 = arith.constant 1 : index
  %v7 = arith.constant 4 : index
  scf.for %v8 = %v5 to %v6 step %v7 {
  }
  scf.if %c {
    scf.if %c {
      scf.yield
    } else {
      scf.yield
    }
    scf.yield
  }
  return %v4 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (index) {
  scf.parallel (%v1) = (%x) to (%y) step (%x) {
    %v2 = arith.cmpi ne, %x, %v1 : index
    scf.reduce
  }
  %v5 = scf.while (%v3 = %w) : (i64) -> (index) {
    %v6 = arith.constant 2 : i64
    memref.store %v6, %m[%x] : memref<?xi64>
    scf.condition(%c) %y : index
  } do {
  ^bb0(%v4: index):
    %v7 = arith.constant 1 : index
    %v8 = arith.constant 2 : index
    %v9 = arith.constant 10 : index
    %v10 = arith.constant 10 : index
    %v11 = arith.constant 2 : index
    %v12 = arith.constant 1 : index
    scf.parallel (%v13, %v14, %v15) = (%x, %v8, %v10) to (%x, %v9, %v11) step (%v7, %x, %v12) {
      %v16 = scf.execute_region -> index {
        scf.yield %v4 : index
      }
      scf.reduce
    }
    %v17 = arith.constant 5 : i64
    scf.yield %v17 : i64
  }
  return %v5 : index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1, index) {
  %v1 = arith.constant 3 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 1 : index
  scf.for %v4 = %v1 to %v2 step %v3 {
  }
  %v5 = arith.constant 2 : i64
  func.call @use(%v5) : (i64) -> ()
  %v6 = arith.constant 5 : i64
  %v7 = arith.addi %w, %v6 : i64
  %v8 = arith.constant false
  %v9 = arith.xori %c, %v8 : i1
  %v10 = arith.constant 0 : index
  %v11 = arith.constant 3 : index
  %v14 = scf.for %v12 = %v10 to %x step %v11 iter_args(%v13 = %x) -> (index) {
    %v15 = arith.constant -1 : index
    %v16 = memref.load %m[%v15] : memref<?xi64>
    scf.yield %v13 : index
  }
  return %v9, %v14 : i1, index
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i64) {
  %v1 = arith.constant false
  %v2, %v3 = scf.if %v1 -> (i64, i64) {
    scf.if %c {
      %v4 = arith.constant false
      %v5 = arith.constant 1 : i64
      %v6 = arith.constant 0 : i64
      %v7 = arith.select %v4, %v5, %v6 : i64
      scf.if %c {
        %v8 = arith.constant true
        %v9 = arith.xori %c, %v8 : i1
        %v10 = arith.constant 5 : i64
        func.call @use(%v10) : (i64) -> ()
        scf.yield
      } else {
        scf.yield
      }
      scf.yield
    } else {
      memref.store %z, %m[%y] : memref<?xi64>
      scf.yield
    }
    scf.yield %w, %z : i64, i64
  } else {
    scf.yield %w, %z : i64, i64
  }
  return %v3 : i64
}
// -----
func.func private @use(i64)
func.func private @get(index) -> i1
func.func @f(%c: i1, %x: index, %y: index, %z: i64, %w: i64, %m: memref<?xi64>) -> (i1) {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 1 : index
  %v4 = arith.constant 1 : index
  %v5 = arith.constant 2 : index
  %v6 = arith.constant 1 : index
  scf.parallel (%v7, %v8) = (%v1, %v4) to (%v2, %v5) step (%v3, %v6) {
    scf.reduce
  }
  memref.store %w, %m[%y] : memref<?xi64>
  %v9 = arith.cmpi slt, %x, %y : index
  scf.if %c {
    memref.store %z, %m[%y] : memref<?xi64>
    %v10 = arith.constant 10 : index
    %v11 = arith.constant 0 : index
    %v12 = arith.maxsi %v10, %v11 : index
    %v13 = arith.muli %w, %z : i64
    scf.yield
  } else {
    scf.yield
  }
  return %v9 : i1
}
