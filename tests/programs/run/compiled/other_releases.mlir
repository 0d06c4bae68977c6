// Two reductions as they were until MLIR 17, and a yield.
func.func @reductions() -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %o = arith.constant 1.0 : f32
  %r:2 = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%z, %o) -> (f32, f32) {
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    scf.reduce(%f) : f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
    %g = arith.addf %f, %o : f32
    scf.reduce(%g) : f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.mulf %a, %b : f32
      scf.reduce.return %s : f32
    }
    scf.yield
  }
  return %r#0, %r#1 : f32, f32
}

// A list of no types, a yield at the end of a loop, and a loop without signs.
func.func @loops() -> i32 attributes {llvm.passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %4 = arith.constant 4 : i32
  %m = memref.alloc() : memref<4xi32>
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) -> () {
    memref.store %4, %m[%i] : memref<4xi32>
    scf.yield
  }
  %r = scf.for unsigned %i = %0 to %4 step %1 iter_args(%a = %0) -> (i32) : i32 {
    %at = arith.index_cast %i : i32 to index
    %x = memref.load %m[%at] : memref<4xi32>
    %s = arith.addi %a, %x : i32
    scf.yield %s : i32
  }
  memref.dealloc %m : memref<4xi32>
  return %r : i32
}

// Weights of branches.
func.func @weights() -> i32 {
  %t = arith.constant true
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  cf.cond_br %t weights([90, 10]), ^x(%a : i32), ^y
^x(%r: i32):
  "cf.cond_br"(%t, %r)[^z, ^y] <{branch_weights = array<i32: 1, 2>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
^y:
  return %b : i32
^z(%s: i32):
  return %s : i32
}

func.func @main() -> (f32, f32, i32, i32) {
  %a:2 = call @reductions() : () -> (f32, f32)
  %b = call @loops() : () -> i32
  %c = call @weights() : () -> i32
  return %a#0, %a#1, %b, %c : f32, f32, i32, i32
}
