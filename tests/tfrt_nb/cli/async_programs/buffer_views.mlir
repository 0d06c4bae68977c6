// Views of a buffer, their sizes, and copies of them.
func.func private @printI64(i64)
func.func private @printF64(f64)
func.func private @printComma()
func.func private @printNewline()
func.func private @s(%i: index) {
  %0 = arith.index_cast %i : index to i64
  call @printI64(%0) : (i64) -> ()
  call @printComma() : () -> ()
  return
}
func.func private @show(%m: memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %k = memref.dim %m, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %k step %c1 {
      %v = memref.load %m[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %e = arith.extf %v : f32 to f64
      func.call @printF64(%e) : (f64) -> ()
      func.call @printComma() : () -> ()
    }
    func.call @printNewline() : () -> ()
  }
  return
}
func.func private @n() -> index {
  %0 = arith.constant 2 : index
  return %0 : index
}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %n = call @n() : () -> index
  %a = memref.alloc() : memref<4x5xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %p = arith.muli %i, %c5 : index
      %q = arith.addi %p, %j : index
      %x = arith.index_cast %q : index to i32
      %y = arith.sitofp %x : i32 to f32
      memref.store %y, %a[%i, %j] : memref<4x5xf32>
    }
  }
  %sv = memref.subview %a[1, 0] [2, 2] [2, 1] : memref<4x5xf32> to memref<2x2xf32, strided<[10, 1], offset: 5>>
  %d1 = memref.cast %sv : memref<2x2xf32, strided<[10, 1], offset: 5>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  call @show(%d1) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
  %sv2 = memref.subview %a[%n, 0] [2, %n] [1, 2] : memref<4x5xf32> to memref<2x?xf32, strided<[5, 2], offset: ?>>
  %d2 = memref.cast %sv2 : memref<2x?xf32, strided<[5, 2], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  call @show(%d2) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
  %sv3 = memref.subview %a[1, 0] [1, 5] [1, 1] : memref<4x5xf32> to memref<5xf32, strided<[1], offset: 5>>
  %l3 = memref.load %sv3[%n] : memref<5xf32, strided<[1], offset: 5>>
  %e3 = arith.extf %l3 : f32 to f64
  call @printF64(%e3) : (f64) -> ()
  call @printNewline() : () -> ()
  %bb, %off, %sz:2, %str:2 = memref.extract_strided_metadata %sv2 : memref<2x?xf32, strided<[5, 2], offset: ?>> -> memref<f32>, index, index, index, index, index
  call @s(%off) : (index) -> ()
  call @s(%sz#0) : (index) -> ()
  call @s(%sz#1) : (index) -> ()
  call @s(%str#0) : (index) -> ()
  call @s(%str#1) : (index) -> ()
  %n1 = arith.subi %n, %c1 : index
  %dd = memref.dim %a, %n1 : memref<4x5xf32>
  %d7 = memref.dim %a, %c1 : memref<4x5xf32>
  call @s(%d7) : (index) -> ()
  %rk = memref.rank %a : memref<4x5xf32>
  call @s(%rk) : (index) -> ()
  %b = memref.alloc(%n) : memref<?x5xf32>
  %sub = memref.subview %a[1, 0] [%n, 5] [1, 1] : memref<4x5xf32> to memref<?x5xf32, strided<[5, 1], offset: 5>>
  memref.copy %sub, %b : memref<?x5xf32, strided<[5, 1], offset: 5>> to memref<?x5xf32>
  %d8 = memref.cast %b : memref<?x5xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  call @show(%d8) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
  memref.dealloc %a : memref<4x5xf32>
  memref.dealloc %b : memref<?x5xf32>
  return
}
