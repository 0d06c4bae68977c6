// pipeline: builtin.module(convert-async-to-llvm)
func.func private @use(i64, i64, i64, i64, i64, i64)
func.func private @usei(index, index, index)
func.func private @useb(i1, i1, i1)
func.func private @usef(f64, f64, f64)
func.func @constants(%x: i64, %i: index, %y: f64, %b: i1) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c7 = arith.constant 7 : i64
  %a = arith.addi %c1, %x : i64
  %d = arith.addi %x, %c0 : i64
  %e = arith.addi %c1, %c7 : i64
  %f = arith.addi %e, %c7 : i64
  %g = arith.muli %x, %c0 : i64
  %h = arith.subi %x, %x : i64
  call @use(%a, %d, %e, %f, %g, %h) : (i64, i64, i64, i64, i64, i64) -> ()
  %i0 = arith.constant 0 : index
  %ic = arith.index_cast %c7 : i64 to index
  %id = arith.index_cast %i : index to i64
  %ie = arith.index_cast %id : i64 to index
  call @usei(%i0, %ic, %ie) : (index, index, index) -> ()
  %b0 = arith.cmpi eq, %c0, %c7 : i64
  %b1 = arith.cmpi slt, %c7, %x : i64
  %b2 = arith.cmpi eq, %x, %x : i64
  call @useb(%b0, %b1, %b2) : (i1, i1, i1) -> ()
  %f0 = arith.constant 1.5 : f64
  %f1 = arith.addf %f0, %f0 : f64
  %f2 = arith.mulf %f0, %y : f64
  %f3 = math.sqrt %f0 : f64
  call @usef(%f1, %f2, %f3) : (f64, f64, f64) -> ()
  %true = arith.constant true
  %s1 = arith.select %true, %x, %c7 : i64
  %s2 = arith.select %b, %x, %x : i64
  %s3 = arith.extui %b2 : i1 to i64
  %s4 = arith.extui %true : i1 to i64
  %s5 = arith.andi %x, %c0 : i64
  %s6 = arith.maxsi %c1, %c7 : i64
  call @use(%s1, %s2, %s3, %s4, %s5, %s6) : (i64, i64, i64, i64, i64, i64) -> ()

  return
}
func.func private @usem(memref<?xf32>, f32)
func.func @buffers(%x: i64, %i: index, %y: f64, %b: i1) {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<4xf32>
  %n = memref.alloc(%i) : memref<?xf32>
  %d0 = memref.dim %m, %c0 : memref<4xf32>
  %d1 = memref.dim %n, %c0 : memref<?xf32>
  %ca = memref.cast %m : memref<4xf32> to memref<?xf32>
  %d2 = memref.dim %ca, %c0 : memref<?xf32>
  %v = memref.load %ca[%c0] : memref<?xf32>
  %c1 = arith.constant 1 : index
  %l = arith.addi %c1, %i : index
  memref.store %v, %ca[%l] : memref<?xf32>
  call @usei(%d0, %d1, %d2) : (index, index, index) -> ()
  call @usem(%ca, %v) : (memref<?xf32>, f32) -> ()
  memref.dealloc %ca : memref<?xf32>
  %unused = arith.addi %c0, %c1 : index
  %unused2 = arith.addi %i, %i : index
  cf.cond_br %b, ^bb1, ^bb2
^bb1:
  %true = arith.constant true
  cf.cond_br %true, ^bb2, ^bb1
^bb2:
  cf.assert %b, "foo"
  %true1 = arith.constant true
  cf.assert %true1, "foo"
  return
}
