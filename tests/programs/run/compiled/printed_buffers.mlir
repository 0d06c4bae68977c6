// What MLIR's runner utilities print of buffers, and the ways to declare and to call them.

func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }
func.func private @printMemrefF64(memref<*xf64>) attributes { llvm.emit_c_interface }
func.func private @printMemrefF16(memref<*xf16>) attributes { llvm.emit_c_interface }
func.func private @printMemrefBF16(memref<*xbf16>) attributes { llvm.emit_c_interface }
func.func private @printMemrefI8(memref<*xi8>) attributes { llvm.emit_c_interface }
func.func private @printMemrefI16(memref<*xi16>) attributes { llvm.emit_c_interface }
func.func private @printMemrefI32(memref<*xi32>)
func.func private @printMemrefI64(memref<*xi64>)
func.func private @printMemrefInd(memref<*xindex>)
func.func private @print_memref_f32(memref<*xf32>) attributes { llvm.emit_c_interface }
func.func private @printMemrefShapeF32(memref<*xf32>) attributes { llvm.emit_c_interface }
func.func private @printMemref0dF32(memref<f32>) attributes { llvm.emit_c_interface }
func.func private @printMemref1dI64(memref<?xi64>) attributes { llvm.emit_c_interface }
func.func private @printMemref2dF32(memref<?x?xf32>) attributes { llvm.emit_c_interface }
func.func private @printFlops(f64)
func.func private @rtclock() -> f64
func.func private @nanoTime() -> i64 attributes { llvm.emit_c_interface }

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index

  // Integers of each width, negative ones as what they are, indices without a sign.
  %i8 = arith.constant 65 : i8
  %m8 = memref.alloca() : memref<3xi8>
  linalg.fill ins(%i8 : i8) outs(%m8 : memref<3xi8>)
  %u8 = memref.cast %m8 : memref<3xi8> to memref<*xi8>
  call @printMemrefI8(%u8) : (memref<*xi8>) -> ()
  %i16 = arith.constant -5 : i16
  %m16 = memref.alloca() : memref<2xi16>
  linalg.fill ins(%i16 : i16) outs(%m16 : memref<2xi16>)
  %u16 = memref.cast %m16 : memref<2xi16> to memref<*xi16>
  call @printMemrefI16(%u16) : (memref<*xi16>) -> ()
  %i32 = arith.constant -70000 : i32
  %m32 = memref.alloca() : memref<2xi32>
  linalg.fill ins(%i32 : i32) outs(%m32 : memref<2xi32>)
  %u32 = memref.cast %m32 : memref<2xi32> to memref<*xi32>
  call @printMemrefI32(%u32) : (memref<*xi32>) -> ()
  %i64 = arith.constant -5000000000 : i64
  %m64 = memref.alloca() : memref<2xi64>
  linalg.fill ins(%i64 : i64) outs(%m64 : memref<2xi64>)
  %u64 = memref.cast %m64 : memref<2xi64> to memref<*xi64>
  call @printMemrefI64(%u64) : (memref<*xi64>) -> ()
  %d64 = memref.cast %m64 : memref<2xi64> to memref<?xi64>
  call @printMemref1dI64(%d64) : (memref<?xi64>) -> ()
  %index = arith.constant -3 : index
  %mi = memref.alloca() : memref<1x2xindex>
  linalg.fill ins(%index : index) outs(%mi : memref<1x2xindex>)
  %ui = memref.cast %mi : memref<1x2xindex> to memref<*xindex>
  call @printMemrefInd(%ui) : (memref<*xindex>) -> ()

  // Floats.
  %f16 = arith.constant -3.1 : f16
  %mf16 = memref.alloca() : memref<2xf16>
  linalg.fill ins(%f16 : f16) outs(%mf16 : memref<2xf16>)
  %uf16 = memref.cast %mf16 : memref<2xf16> to memref<*xf16>
  call @printMemrefF16(%uf16) : (memref<*xf16>) -> ()
  %bf16 = arith.constant -3.1 : bf16
  %mbf16 = memref.alloca() : memref<2xbf16>
  linalg.fill ins(%bf16 : bf16) outs(%mbf16 : memref<2xbf16>)
  %ubf16 = memref.cast %mbf16 : memref<2xbf16> to memref<*xbf16>
  call @printMemrefBF16(%ubf16) : (memref<*xbf16>) -> ()
  %f64 = arith.constant 12345678901.25 : f64
  %mf64 = memref.alloca() : memref<2x1x2xf64>
  linalg.fill ins(%f64 : f64) outs(%mf64 : memref<2x1x2xf64>)
  %uf64 = memref.cast %mf64 : memref<2x1x2xf64> to memref<*xf64>
  call @printMemrefF64(%uf64) : (memref<*xf64>) -> ()

  // No dimension, a part of a buffer, only the shape.
  %nan = arith.constant 0x7FC00000 : f32
  %mf = memref.alloc() : memref<f32>
  memref.store %nan, %mf[] : memref<f32>
  call @printMemref0dF32(%mf) : (memref<f32>) -> ()
  %uf = memref.cast %mf : memref<f32> to memref<*xf32>
  call @print_memref_f32(%uf) : (memref<*xf32>) -> ()
  memref.dealloc %mf : memref<f32>
  %table = memref.alloc() : memref<3x4xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %row = arith.muli %i, %c4 : index
      %n = arith.addi %row, %j : index
      %k = arith.index_cast %n : index to i32
      %x = arith.sitofp %k : i32 to f32
      memref.store %x, %table[%i, %j] : memref<3x4xf32>
    }
  }
  %any = memref.cast %table : memref<3x4xf32> to memref<*xf32>
  call @printMemrefF32(%any) : (memref<*xf32>) -> ()
  call @printMemrefShapeF32(%any) : (memref<*xf32>) -> ()
  %part = memref.subview %table[1, 1] [2, 2] [1, 2] : memref<3x4xf32> to memref<2x2xf32, strided<[4, 2], offset: 5>>
  %any_part = memref.cast %part : memref<2x2xf32, strided<[4, 2], offset: 5>> to memref<*xf32>
  call @printMemrefF32(%any_part) : (memref<*xf32>) -> ()
  %dynamic = memref.cast %table : memref<3x4xf32> to memref<?x?xf32>
  call @printMemref2dF32(%dynamic) : (memref<?x?xf32>) -> ()
  memref.dealloc %table : memref<3x4xf32>

  // Clocks do not go back.
  %then = call @rtclock() : () -> f64
  %start = call @nanoTime() : () -> i64
  %end = call @nanoTime() : () -> i64
  %now = call @rtclock() : () -> f64
  %later = arith.cmpf oge, %now, %then : f64
  vector.print %later : i1
  %after = arith.cmpi sge, %end, %start : i64
  vector.print %after : i1
  %flops = arith.constant 2.5e9 : f64
  call @printFlops(%flops) : (f64) -> ()
  return
}
