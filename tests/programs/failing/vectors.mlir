func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.addf %x, %x : vector<2x2xf32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = math.sin %x : vector<2x2xf32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = math.erf %x : vector<2x2xf32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.cmpf oeq, %x, %x : vector<2x2xf32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.extsi %i : vector<4xi32> to vector<2xi64>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.extsi %i : vector<4xi32> to vector<4xi16>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.trunci %i : vector<4xi32> to vector<4xi64>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.index_cast %i : vector<4xi32> to vector<4xi64>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = arith.select %c, %i, %i : vector<2xi1>, vector<4xi32>
  return
}
// -----
func.func @main() {
  %x = arith.constant dense<1.0> : vector<2x2xf32>
  %i = arith.constant dense<1> : vector<4xi32>
  %c = arith.constant dense<true> : vector<2xi1>
  %y = math.ipowi %i, %i : vector<4xi32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.load %m[%c3] : memref<6xf32>, vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.load %n[%cm] : memref<?xf32>, vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  vector.store %v, %n[%c3] : memref<?xf32>, vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.load %t[%cm, %c3] : memref<4x4xf32>, vector<1xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.transfer_read %m[%cm], %f : memref<6xf32>, vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.transfer_read %m[%c3], %f {in_bounds = [true]} : memref<6xf32>, vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  vector.transfer_write %v, %m[%c3] {in_bounds = [true]} : vector<4xf32>, memref<6xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.transfer_read %t[%c3, %c3], %f : memref<4x4xf32>, vector<4x4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.transfer_read %t[%c3, %c3], %f {permutation_map = affine_map<(i, j) -> (i)>} : memref<4x4xf32>, vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.load %u[%c3] : memref<8xi1>, vector<4xi1>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %p = memref.transpose %t (i, j) -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  %r = vector.load %p[%c3, %c3] : memref<4x4xf32, strided<[1, 4]>>, vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.extract %w[%c3, 1] : f32 from vector<2x4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.shuffle %v, %s [0, 4] : vector<4xf32>, vector<2xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.reduction <add>, %w : vector<2x4xf32> into f32
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.splat %d : vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.splat %d : f64
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.broadcast %s : vector<2xf32> to vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %i = arith.constant 1 : i128
  vector.print %i : i128
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  vector.print str "text" punctuation <comma>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  vector.print punctuation <dot>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.extract %v[7] : f32 from vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.insert %f, %v[9] : f32 into vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.extract %w[7] : vector<4xf32> from vector<2x4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.reduction <foo>, %v : vector<4xf32> into f32
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.reduction <and>, %v : vector<4xf32> into f32
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.reduction <maximumf>, %b : vector<8xi1> into i1
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.outerproduct %v, %v : vector<4xf32>, vector<4xf32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.bitcast %v : vector<4xf32> to vector<4xf64>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.bitcast %w : vector<2x4xf32> to vector<2x4xi32>
  return
}
// -----
func.func @main() {
  %c3 = arith.constant 3 : index
  %cm = arith.constant -1 : index
  %f = arith.constant 1.0 : f32
  %d = arith.constant 1.0 : f64
  %v = arith.constant dense<1.0> : vector<4xf32>
  %w = arith.constant dense<1.0> : vector<2x4xf32>
  %s = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<true> : vector<8xi1>
  %m = memref.alloc() : memref<6xf32>
  %n = memref.alloc(%c3) : memref<?xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %u = memref.alloc() : memref<8xi1>
  %r = vector.create_mask %c3 : vector<4xi1>
  return
}
