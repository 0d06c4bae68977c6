// Buffers of more than a cache line's alignment, on the heap and in the frame; the low bits of their addresses.
func.func @main() -> (i64, i64, i64, i32) {
  %heap, %frame, %plain, %element = tfrt.jit () -> (i64, i64, i64, i32) {
    %zero = arith.constant 0 : index
    %page = arith.constant 4095 : index
    %line = arith.constant 63 : index
    %seven = arith.constant 7 : i32
    %m = memref.alloc() {alignment = 4096 : i64} : memref<4xi32>
    %n = memref.alloca() {alignment = 4096 : i64} : memref<4xi32>
    %o = memref.alloc() {alignment = 16 : i64} : memref<4xi32>
    memref.store %seven, %m[%zero] : memref<4xi32>
    memref.copy %m, %n : memref<4xi32> to memref<4xi32>
    memref.copy %n, %o : memref<4xi32> to memref<4xi32>
    %element = memref.load %o[%zero] : memref<4xi32>
    %p = memref.extract_aligned_pointer_as_index %m : memref<4xi32> -> index
    %q = memref.extract_aligned_pointer_as_index %n : memref<4xi32> -> index
    %r = memref.extract_aligned_pointer_as_index %o : memref<4xi32> -> index
    %heap = arith.andi %p, %page : index
    %frame = arith.andi %q, %page : index
    %plain = arith.andi %r, %line : index
    memref.dealloc %m : memref<4xi32>
    memref.dealloc %o : memref<4xi32>
    %h = arith.index_cast %heap : index to i64
    %f = arith.index_cast %frame : index to i64
    %l = arith.index_cast %plain : index to i64
    tfrt.return %h, %f, %l, %element : i64, i64, i64, i32
  }
  tfrt.return %heap, %frame, %plain, %element : i64, i64, i64, i32
}
