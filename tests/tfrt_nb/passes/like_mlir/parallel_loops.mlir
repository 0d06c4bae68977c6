// pipeline: builtin.module(async-parallel-for)
// pipeline: builtin.module(async-parallel-for{async-dispatch=false num-workers=-1 min-task-size=10},canonicalize,cse)
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 17 : index
  scf.parallel (%v4) = (%v1) to (%v3) step (%v2) {
    %v5 = arith.index_cast %b : index to i64
    memref.store %v5, %m[%v4] : memref<?xi64>
    %v6 = arith.index_cast %v4 : index to i64
    memref.store %v6, %m[%b] : memref<?xi64>
    memref.store %f, %m[%b] : memref<?xi64>
  }
  return
}
// -----
func.func @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 8 : index
  scf.parallel (%v4, %v5) = (%v1, %v1) to (%v3, %b) step (%v2, %v2) {
    memref.store %f, %m[%b] : memref<?xi64>
  }
  %v6 = arith.constant 8 : index
  %v7 = arith.constant -5 : index
  %v8 = arith.constant 2 : index
  %v11 = arith.constant 2 : index
  scf.parallel (%v9, %v10) = (%a, %v7) to (%v6, %b) step (%s, %v8) {
    %v12 = arith.muli %v10, %v9 : index
    %v13 = arith.muli %v10, %v11 : index
    %v14 = arith.addi %v12, %v11 : index
    memref.store %f, %m[%v14] : memref<?xi64>
  }
  return
}
// -----
func.func @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 1000 : index
  scf.parallel (%v4, %v5) = (%v1, %v1) to (%a, %v3) step (%v2, %v2) {
    %v6 = arith.subi %b, %v5 : index
    %v7 = arith.subi %v4, %v4 : index
    %v8 = arith.constant 1 : index
    %v9 = arith.constant 1 : index
    scf.parallel (%v10, %v11) = (%v7, %v5) to (%v5, %v5) step (%v8, %v9) {
      %v12 = arith.constant 1 : index
      %v13 = arith.constant 1 : index
      scf.parallel (%v14, %v15) = (%v6, %v7) to (%v10, %v4) step (%v12, %v13) {
        %v16 = arith.index_cast %b : index to i64
        memref.store %v16, %m[%v7] : memref<?xi64>
        %v17 = arith.subi %v6, %v10 : index
        %v18 = arith.index_cast %v7 : index to i64
        memref.store %v18, %m[%a] : memref<?xi64>
        memref.store %f, %m[%v10] : memref<?xi64>
      }
      memref.store %f, %m[%b] : memref<?xi64>
    }
    memref.store %f, %m[%v7] : memref<?xi64>
  }
  return
}
// -----
func.func @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 3 : index
  scf.parallel (%v4) = (%v1) to (%v3) step (%v2) {
    %v5 = arith.muli %b, %b : index
    %v6 = arith.constant 0 : index
    %v7 = arith.constant 1 : index
    %v8 = arith.constant 5 : index
    %v9 = arith.constant -10 : index
    scf.parallel (%v10, %v11) = (%v6, %v6) to (%v8, %v9) step (%v7, %v7) {
      %v12 = arith.constant 4 : index
      %v13 = arith.addi %a, %v12 : index
      %v14 = arith.constant 1 : index
      %v15 = arith.constant 2 : index
      %v16 = arith.constant 1 : index
      scf.parallel (%v17, %v18) = (%a, %v5) to (%v14, %v11) step (%v15, %v16) {
        %v19 = arith.index_cast %v18 : index to i64
        memref.store %v19, %m[%v17] : memref<?xi64>
        %v20 = arith.subi %b, %v13 : index
        %v21 = arith.index_cast %v20 : index to i64
        memref.store %v21, %m[%v18] : memref<?xi64>
        memref.store %f, %m[%v11] : memref<?xi64>
      }
      memref.store %f, %m[%v10] : memref<?xi64>
    }
    memref.store %f, %m[%v4] : memref<?xi64>
  }
  %v22 = arith.constant -10 : index
  %v23 = arith.constant 2 : index
  %v24 = arith.constant 2 : index
  scf.parallel (%v25, %v26) = (%v22, %b) to (%a, %a) step (%v23, %v24) {
    %v27 = arith.subi %b, %v26 : index
    memref.store %f, %m[%a] : memref<?xi64>
  }
  return
}
// -----
func.func @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 4 : index
  %v4 = arith.constant 2 : index
  scf.parallel (%v5, %v6) = (%v1, %v1) to (%v3, %v4) step (%v2, %v2) {
    memref.store %f, %m[%v6] : memref<?xi64>
  }
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = async.execute {
    %v2 = arith.constant 3 : index
    %v3 = arith.constant 16 : index
    %v4 = arith.constant 7 : index
    %v7 = arith.constant 100 : index
    scf.parallel (%v5, %v6) = (%v2, %a) to (%v3, %b) step (%s, %v4) {
      %v8 = arith.subi %v5, %v7 : index
      %v9 = arith.constant 17 : index
      %v10 = arith.muli %v6, %v9 : index
      memref.store %f, %m[%v8] : memref<?xi64>
    }
    async.yield
  }
  async.await %v1 : !async.token
  %v11 = arith.constant 4 : index
  %v12 = arith.constant 3 : index
  scf.parallel (%v13) = (%v11) to (%a) step (%v12) {
    scf.for %q13 = %v11 to %b step %v12 {
      memref.store %f, %m[%q13] : memref<?xi64>
    }
    memref.store %f, %m[%v13] : memref<?xi64>
  }
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant -10 : index
  %v4 = arith.constant 17 : index
  scf.parallel (%v5, %v6, %v7) = (%v1, %v1, %v1) to (%v3, %v4, %a) step (%v2, %v2, %v2) {
    %v8 = arith.addi %a, %b : index
    %v9 = arith.index_cast %v6 : index to i64
    memref.store %v9, %m[%v6] : memref<?xi64>
    %v10 = arith.constant 5 : index
    %v11 = arith.constant -5 : index
    %v12 = arith.constant 1 : index
    scf.parallel (%v13, %v14) = (%b, %v11) to (%v10, %v7) step (%s, %v12) {
      memref.store %f, %m[%a] : memref<?xi64>
    }
    memref.store %f, %m[%v6] : memref<?xi64>
  }
  %v15 = arith.constant 0 : index
  %v16 = arith.constant 1 : index
  %v17 = arith.constant -5 : index
  %v20 = arith.constant 10 : index
  scf.parallel (%v18, %v19) = (%v15, %v15) to (%v17, %b) step (%v16, %v16) {
    memref.store %f, %m[%a] : memref<?xi64>
  }
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = async.execute {
    %v2 = arith.constant -5 : index
    %v3 = arith.constant 8 : index
    %v4 = arith.constant 1 : index
    scf.parallel (%v5) = (%v2) to (%v3) step (%v4) {
      memref.store %f, %m[%v5] : memref<?xi64>
    }
    async.yield
  }
  async.await %v1 : !async.token
  scf.if %c {
    %v6 = arith.constant -10 : index
    %v8 = arith.constant 512 : index
    scf.parallel (%v7) = (%v6) to (%a) step (%s) {
      %v9 = arith.constant 0 : index
      %v10 = arith.subi %b, %v9 : index
      %v11 = arith.index_cast %a : index to i64
      memref.store %v11, %m[%a] : memref<?xi64>
      memref.store %f, %m[%v7] : memref<?xi64>
    }
  }
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant -5 : index
  %v4 = arith.constant 0 : index
  scf.parallel (%v5, %v6, %v7) = (%v1, %v1, %v1) to (%a, %v3, %v4) step (%v2, %v2, %v2) {
    %v8 = arith.index_cast %v6 : index to i64
    memref.store %v8, %m[%a] : memref<?xi64>
    %v9 = arith.constant 5 : index
    %v10 = arith.constant 3 : index
    %v11 = arith.constant 3 : index
    %v12 = arith.constant 0 : index
    %v13 = arith.constant 4 : index
    %v14 = arith.constant 2 : index
    %v15 = arith.constant 10 : index
    %v16 = arith.constant 1 : index
    %v20 = arith.constant 100 : index
    scf.parallel (%v17, %v18, %v19) = (%v9, %v12, %v15) to (%v10, %v13, %v7) step (%v11, %v14, %v16) {
      %v21 = arith.index_cast %v5 : index to i64
      memref.store %v21, %m[%v7] : memref<?xi64>
      %v22 = arith.constant 0 : index
      %v23 = arith.constant 1 : index
      %v24 = arith.constant 8 : index
      %v25 = arith.constant 4 : index
      %v29 = arith.constant 4 : index
      scf.parallel (%v26, %v27, %v28) = (%v22, %v22, %v22) to (%v24, %a, %v25) step (%v23, %v23, %v23) {
        %v30 = arith.index_cast %v7 : index to i64
        memref.store %v30, %m[%v19] : memref<?xi64>
        %v31 = arith.constant 8 : index
        %v32 = arith.muli %v6, %v31 : index
        %v33 = arith.index_cast %v28 : index to i64
        memref.store %v33, %m[%v28] : memref<?xi64>
        memref.store %f, %m[%v26] : memref<?xi64>
      }
      memref.store %f, %m[%v7] : memref<?xi64>
    }
    memref.store %f, %m[%v6] : memref<?xi64>
  }
  %v34 = arith.constant 0 : index
  %v35 = arith.constant 1 : index
  %v36 = arith.constant -5 : index
  %v37 = arith.constant -5 : index
  %v41 = arith.constant 4 : index
  scf.parallel (%v38, %v39, %v40) = (%v34, %v34, %v34) to (%b, %v36, %v37) step (%v35, %v35, %v35) {
    %v42 = arith.index_cast %b : index to i64
    memref.store %v42, %m[%v38] : memref<?xi64>
    %v43 = arith.index_cast %v39 : index to i64
    memref.store %v43, %m[%a] : memref<?xi64>
    %v44 = arith.muli %v39, %v41 : index
    memref.store %f, %m[%v40] : memref<?xi64>
  }
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 0 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant -10 : index
  scf.parallel (%v4, %v5) = (%v1, %v1) to (%b, %v3) step (%v2, %v2) {
    %v6 = arith.constant 0 : index
    %v7 = arith.constant 1 : index
    %v8 = arith.constant 512 : index
    scf.parallel (%v9, %v10) = (%v6, %v6) to (%b, %v8) step (%v7, %v7) {
      %v11 = arith.index_cast %v5 : index to i64
      memref.store %v11, %m[%v10] : memref<?xi64>
      memref.store %f, %m[%a] : memref<?xi64>
    }
    scf.for %q11 = %v1 to %v5 step %v2 {
      memref.store %f, %m[%q11] : memref<?xi64>
    }
    memref.store %f, %m[%v4] : memref<?xi64>
  }
  return
}
// -----
func.func @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 5 : index
  %v2 = arith.constant 0 : index
  %v3 = arith.constant 1 : index
  %v4 = arith.constant 3 : index
  scf.parallel (%v5, %v6) = (%v1, %a) to (%v2, %b) step (%v3, %v4) {
    %v7 = arith.index_cast %a : index to i64
    memref.store %v7, %m[%b] : memref<?xi64>
    %v8 = arith.constant 1 : index
    %v9 = arith.constant 4 : index
    %v10 = arith.constant 2 : index
    scf.parallel (%v11, %v12) = (%v6, %v9) to (%a, %b) step (%v8, %v10) {
      memref.store %f, %m[%v5] : memref<?xi64>
    }
    scf.for %q12 = %v1 to %v5 step %v3 {
      memref.store %f, %m[%q12] : memref<?xi64>
    }
    memref.store %f, %m[%a] : memref<?xi64>
  }
  %v13 = arith.constant 2 : index
  %v14 = arith.constant 1000 : index
  %v15 = arith.constant -5 : index
  %v16 = arith.constant 1 : index
  %v17 = arith.constant 17 : index
  %v18 = arith.constant 1 : index
  %v22 = arith.constant 4 : index
  scf.parallel (%v19, %v20, %v21) = (%a, %v14, %a) to (%b, %v15, %v17) step (%v13, %v16, %v18) {
    %v23 = arith.index_cast %a : index to i64
    memref.store %v23, %m[%v21] : memref<?xi64>
    %v24 = arith.constant 0 : index
    %v25 = arith.constant 1 : index
    %v26 = arith.constant 0 : index
    %v27 = arith.constant 16 : index
    %v31 = arith.constant 0 : index
    scf.parallel (%v28, %v29, %v30) = (%v24, %v24, %v24) to (%v26, %a, %v27) step (%v25, %v25, %v25) {
      %v32 = arith.subi %a, %v31 : index
      %v33 = arith.index_cast %b : index to i64
      memref.store %v33, %m[%v20] : memref<?xi64>
      %v34 = arith.constant -5 : index
      %v35 = arith.constant -1 : index
      %v36 = arith.constant 1 : index
      %v37 = arith.constant 5 : index
      %v38 = arith.constant 2 : index
      scf.parallel (%v39, %v40) = (%v34, %v37) to (%v35, %v19) step (%v36, %v38) {
        %v41 = arith.index_cast %a : index to i64
        memref.store %v41, %m[%v29] : memref<?xi64>
        %v42 = arith.index_cast %v20 : index to i64
        memref.store %v42, %m[%v30] : memref<?xi64>
        memref.store %f, %m[%a] : memref<?xi64>
      }
      memref.store %f, %m[%v21] : memref<?xi64>
    }
    memref.store %f, %m[%b] : memref<?xi64>
  }
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 3 : index
  scf.parallel (%v2) = (%a) to (%b) step (%v1) {
    %v3 = arith.index_cast %v2 : index to i64
    memref.store %v3, %m[%a] : memref<?xi64>
    %v4 = arith.constant 2 : index
    %v5 = arith.constant 3 : index
    %v6 = arith.constant 0 : index
    %v7 = arith.constant 17 : index
    %v8 = arith.constant 3 : index
    %v9 = arith.constant 7 : index
    scf.parallel (%v10, %v11, %v12) = (%v4, %v6, %v2) to (%v2, %v7, %b) step (%v5, %v8, %v9) {
      %v13 = arith.muli %b, %b : index
      %v14 = arith.index_cast %b : index to i64
      memref.store %v14, %m[%v2] : memref<?xi64>
      %v15 = arith.constant 8 : index
      %v16 = arith.subi %v12, %v15 : index
      scf.for %q16 = %v4 to %v13 step %v5 {
        memref.store %f, %m[%q16] : memref<?xi64>
      }
      memref.store %f, %m[%v10] : memref<?xi64>
    }
    scf.for %q16 = %a to %a step %v1 {
      memref.store %f, %m[%q16] : memref<?xi64>
    }
    memref.store %f, %m[%b] : memref<?xi64>
  }
  return
}
// -----
func.func @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 4 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 2 : index
  %v4 = arith.constant 2 : index
  scf.parallel (%v5, %v6) = (%v1, %v3) to (%b, %a) step (%v2, %v4) {
    %v7 = arith.index_cast %a : index to i64
    memref.store %v7, %m[%v6] : memref<?xi64>
    %v8 = arith.index_cast %v5 : index to i64
    memref.store %v8, %m[%a] : memref<?xi64>
    %v9 = arith.subi %a, %v6 : index
    memref.store %f, %m[%b] : memref<?xi64>
  }
  return
}
// -----
func.func @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 10 : index
  %v2 = arith.constant 0 : index
  %v3 = arith.constant 1 : index
  %v4 = arith.constant -5 : index
  %v5 = arith.constant 3 : index
  %v6 = arith.constant 7 : index
  scf.parallel (%v7, %v8) = (%v1, %v4) to (%v2, %v5) step (%v3, %v6) {
    %v9 = arith.constant -1 : index
    %v10 = arith.muli %v7, %v9 : index
    %v11 = arith.index_cast %v7 : index to i64
    memref.store %v11, %m[%a] : memref<?xi64>
    memref.store %f, %m[%a] : memref<?xi64>
  }
  %v12 = async.execute {
    %v13 = arith.constant 16 : index
    %v14 = arith.constant 1 : index
    %v15 = arith.constant 4 : index
    %v16 = arith.constant 5 : index
    %v17 = arith.constant 1 : index
    %v18 = arith.constant 2 : index
    %v19 = arith.constant 7 : index
    scf.parallel (%v20, %v21, %v22) = (%v13, %v15, %b) to (%b, %v16, %v18) step (%v14, %v17, %v19) {
      %v23 = arith.constant 0 : index
      %v24 = arith.muli %v21, %v23 : index
      %v25 = arith.index_cast %b : index to i64
      memref.store %v25, %m[%b] : memref<?xi64>
      %v26 = arith.addi %v20, %v22 : index
      memref.store %f, %m[%v21] : memref<?xi64>
    }
    async.yield
  }
  async.await %v12 : !async.token
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 1 : index
  %v2 = arith.constant 1 : index
  %v3 = arith.constant 1000 : index
  scf.parallel (%v4, %v5) = (%v1, %v1) to (%v3, %b) step (%v2, %v2) {
    %v6 = arith.index_cast %a : index to i64
    memref.store %v6, %m[%v5] : memref<?xi64>
    memref.store %f, %m[%v5] : memref<?xi64>
  }
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = async.execute {
    %v2 = arith.constant 0 : index
    %v3 = arith.constant 1 : index
    %v4 = arith.constant 3 : index
    scf.parallel (%v5, %v6) = (%v2, %v2) to (%v4, %a) step (%v3, %v3) {
      %v7 = arith.muli %v5, %b : index
      memref.store %f, %m[%a] : memref<?xi64>
    }
    async.yield
  }
  async.await %v1 : !async.token
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant -5 : index
  %v2 = arith.constant 17 : index
  %v3 = arith.constant 3 : index
  scf.parallel (%v4) = (%v1) to (%v2) step (%v3) {
    %v5 = arith.index_cast %b : index to i64
    memref.store %v5, %m[%b] : memref<?xi64>
    %v6 = arith.constant -1 : index
    %v7 = arith.subi %a, %v6 : index
    %v8 = arith.constant 8 : index
    %v9 = arith.subi %v4, %v8 : index
    %v10 = arith.constant 3 : index
    %v11 = arith.constant 1 : index
    %v12 = arith.constant 2 : index
    %v13 = arith.constant 2 : index
    scf.parallel (%v14, %v15) = (%v10, %v7) to (%v7, %v12) step (%v11, %v13) {
      %v16 = arith.constant -10 : index
      %v17 = arith.addi %a, %v16 : index
      %v18 = arith.constant 10 : index
      %v19 = arith.constant 2 : index
      %v20 = arith.constant -1 : index
      %v21 = arith.constant -1 : index
      %v22 = arith.constant 7 : index
      %v25 = arith.constant 0 : index
      scf.parallel (%v23, %v24) = (%a, %v20) to (%v18, %v21) step (%v19, %v22) {
        %v26 = arith.constant 0 : index
        %v27 = arith.addi %v15, %v26 : index
        memref.store %f, %m[%v17] : memref<?xi64>
      }
      memref.store %f, %m[%a] : memref<?xi64>
    }
    memref.store %f, %m[%a] : memref<?xi64>
  }
  %v28 = async.execute {
    %v29 = arith.constant 4 : index
    %v30 = arith.constant 17 : index
    %v31 = arith.constant 3 : index
    scf.parallel (%v32) = (%v29) to (%v30) step (%v31) {
      scf.for %q32 = %v29 to %a step %v31 {
        memref.store %f, %m[%q32] : memref<?xi64>
      }
      memref.store %f, %m[%a] : memref<?xi64>
    }
    async.yield
  }
  async.await %v28 : !async.token
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 10 : index
  %v2 = arith.constant 10 : index
  %v3 = arith.constant 1 : index
  %v4 = arith.constant 100 : index
  %v5 = arith.constant 4 : index
  %v6 = arith.constant 3 : index
  %v7 = arith.constant 2 : index
  %v8 = arith.constant 1 : index
  %v12 = arith.constant -5 : index
  scf.parallel (%v9, %v10, %v11) = (%v1, %v4, %v7) to (%v2, %v5, %a) step (%v3, %v6, %v8) {
    %v13 = arith.subi %v9, %v11 : index
    %v14 = arith.constant 1 : index
    %v15 = arith.constant 1 : index
    %v16 = arith.constant 10 : index
    %v18 = arith.constant 4 : index
    scf.parallel (%v17) = (%v14) to (%v16) step (%v15) {
      %v19 = arith.constant -5 : index
      %v20 = arith.constant 16 : index
      %v21 = arith.constant 2 : index
      %v22 = arith.constant 5 : index
      %v23 = arith.constant 1 : index
      scf.parallel (%v24, %v25) = (%v19, %v22) to (%v20, %v9) step (%v21, %v23) {
        %v26 = arith.index_cast %v11 : index to i64
        memref.store %v26, %m[%v10] : memref<?xi64>
        %v27 = arith.index_cast %v10 : index to i64
        memref.store %v27, %m[%b] : memref<?xi64>
        %v28 = arith.index_cast %v9 : index to i64
        memref.store %v28, %m[%v9] : memref<?xi64>
        memref.store %f, %m[%b] : memref<?xi64>
      }
      memref.store %f, %m[%v13] : memref<?xi64>
    }
    memref.store %f, %m[%a] : memref<?xi64>
  }
  return
}
// -----
func.func @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  scf.if %c {
    %v1 = arith.constant 0 : index
    %v2 = arith.constant 1 : index
    %v3 = arith.constant 1000 : index
    %v6 = arith.constant 10 : index
    scf.parallel (%v4, %v5) = (%v1, %v1) to (%v3, %b) step (%v2, %v2) {
      %v7 = arith.index_cast %b : index to i64
      memref.store %v7, %m[%v5] : memref<?xi64>
      memref.store %f, %m[%v5] : memref<?xi64>
    }
  }
  return
}
// -----
func.func private @f(%a: index, %b: index, %s: index, %f: i64, %c: i1, %m: memref<?xi64>) {
  %v1 = arith.constant 1 : index
  scf.parallel (%v2) = (%b) to (%b) step (%v1) {
    memref.store %f, %m[%b] : memref<?xi64>
  }
  return
}
