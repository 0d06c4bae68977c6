// Small vectors: made, taken apart, put together, loaded and stored, reduced.

func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }

func.func @lanes() {
  %x = arith.constant 1.5 : f32
  %y = arith.constant 4.0 : f32
  %two = arith.constant 2 : index
  %a = vector.broadcast %x : f32 to vector<4xf32>
  vector.print %a : vector<4xf32>
  %b = vector.splat %y : vector<4xf32>
  vector.print %b : vector<4xf32>
  %c = vector.insert %y, %a[1] : f32 into vector<4xf32>
  vector.print %c : vector<4xf32>
  %d = vector.insert %y, %c[%two] : f32 into vector<4xf32>
  vector.print %d : vector<4xf32>
  %e = vector.extract %d[2] : f32 from vector<4xf32>
  vector.print %e : f32
  %f = vector.extract %d[%two] : f32 from vector<4xf32>
  vector.print %f : f32
  %g = vector.fma %a, %b, %c : vector<4xf32>
  vector.print %g : vector<4xf32>
  %h = vector.shuffle %a, %d [0, 5, 6, 18446744073709551615] : vector<4xf32>, vector<4xf32>
  vector.print %h : vector<4xf32>
  %i = vector.bitcast %a : vector<4xf32> to vector<4xi32>
  vector.print %i : vector<4xi32>
  %j = vector.bitcast %a : vector<4xf32> to vector<2xi64>
  vector.print %j : vector<2xi64>
  return
}
func.func @tables() {
  %x = arith.constant 1.5 : f32
  %y = arith.constant 4.0 : f32
  %one = arith.constant 1 : index
  %a = vector.broadcast %x : f32 to vector<2x3xf32>
  vector.print %a : vector<2x3xf32>
  %row = vector.broadcast %y : f32 to vector<3xf32>
  %b = vector.insert %row, %a[1] : vector<3xf32> into vector<2x3xf32>
  vector.print %b : vector<2x3xf32>
  %c = vector.insert %x, %b[1, 2] : f32 into vector<2x3xf32>
  vector.print %c : vector<2x3xf32>
  %d = vector.extract %c[1] : vector<3xf32> from vector<2x3xf32>
  vector.print %d : vector<3xf32>
  %e = vector.extract %c[1, 2] : f32 from vector<2x3xf32>
  vector.print %e : f32
  %f = vector.extract %c[1, %one] : f32 from vector<2x3xf32>
  vector.print %f : f32
  %g = vector.broadcast %d : vector<3xf32> to vector<2x2x3xf32>
  vector.print %g : vector<2x2x3xf32>
  return
}
func.func @reductions() {
  %i = arith.constant dense<[3, -1, 7, 4]> : vector<4xi32>
  %f = arith.constant dense<[3.0, -1.5, 7.0, 4.0]> : vector<4xf32>
  %k = arith.constant 10 : i32
  %z = arith.constant 0.5 : f32
  %0 = vector.reduction <add>, %i : vector<4xi32> into i32
  vector.print %0 : i32
  %1 = vector.reduction <mul>, %i : vector<4xi32> into i32
  vector.print %1 : i32
  %2 = vector.reduction <minsi>, %i : vector<4xi32> into i32
  vector.print %2 : i32
  %3 = vector.reduction <maxsi>, %i : vector<4xi32> into i32
  vector.print %3 : i32
  %4 = vector.reduction <minui>, %i : vector<4xi32> into i32
  vector.print %4 : i32
  %5 = vector.reduction <maxui>, %i : vector<4xi32> into i32
  vector.print %5 : i32
  %6 = vector.reduction <and>, %i : vector<4xi32> into i32
  vector.print %6 : i32
  %7 = vector.reduction <or>, %i : vector<4xi32> into i32
  vector.print %7 : i32
  %8 = vector.reduction <xor>, %i : vector<4xi32> into i32
  vector.print %8 : i32
  %9 = vector.reduction <add>, %i, %k : vector<4xi32> into i32
  vector.print %9 : i32
  %10 = vector.reduction <maxsi>, %i, %k : vector<4xi32> into i32
  vector.print %10 : i32
  %11 = vector.reduction <add>, %f : vector<4xf32> into f32
  vector.print %11 : f32
  %12 = vector.reduction <mul>, %f : vector<4xf32> into f32
  vector.print %12 : f32
  %13 = vector.reduction <minnumf>, %f : vector<4xf32> into f32
  vector.print %13 : f32
  %14 = vector.reduction <maxnumf>, %f : vector<4xf32> into f32
  vector.print %14 : f32
  %15 = vector.reduction <minimumf>, %f : vector<4xf32> into f32
  vector.print %15 : f32
  %16 = vector.reduction <maximumf>, %f : vector<4xf32> into f32
  vector.print %16 : f32
  %17 = vector.reduction <add>, %f, %z : vector<4xf32> into f32
  vector.print %17 : f32
  %18 = vector.reduction <minimumf>, %f, %z : vector<4xf32> into f32
  vector.print %18 : f32
  return
}
func.func @buffers() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %pad = arith.constant -1.0 : f32
  %m = memref.alloc(%c2) : memref<?x6xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c6 step %c1 {
      %r = arith.muli %i, %c6 : index
      %n = arith.addi %r, %j : index
      %k = arith.index_cast %n : index to i32
      %x = arith.sitofp %k : i32 to f32
      memref.store %x, %m[%i, %j] : memref<?x6xf32>
    }
  }
  %a = vector.load %m[%c1, %c2] : memref<?x6xf32>, vector<4xf32>
  vector.print %a : vector<4xf32>
  %b = arith.addf %a, %a : vector<4xf32>
  vector.store %b, %m[%c0, %c1] : memref<?x6xf32>, vector<4xf32>
  %d = vector.transfer_read %m[%c1, %c4], %pad : memref<?x6xf32>, vector<4xf32>
  vector.print %d : vector<4xf32>
  %e = vector.transfer_read %m[%c1, %c2], %pad {in_bounds = [true]} : memref<?x6xf32>, vector<4xf32>
  vector.print %e : vector<4xf32>
  %mask = arith.constant dense<[true, false, true, true]> : vector<4xi1>
  %f = vector.transfer_read %m[%c1, %c4], %pad, %mask : memref<?x6xf32>, vector<4xf32>
  vector.print %f : vector<4xf32>
  %g = vector.transfer_read %m[%c1, %c6], %pad : memref<?x6xf32>, vector<4xf32>
  vector.print %g : vector<4xf32>
  vector.transfer_write %e, %m[%c0, %c4] : vector<4xf32>, memref<?x6xf32>
  vector.transfer_write %b, %m[%c1, %c0] {in_bounds = [true]} : vector<4xf32>, memref<?x6xf32>
  %u = memref.cast %m : memref<?x6xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  memref.dealloc %m : memref<?x6xf32>
  return
}
func.func @main() {
  call @lanes() : () -> ()
  call @tables() : () -> ()
  call @reductions() : () -> ()
  call @buffers() : () -> ()
  return
}
