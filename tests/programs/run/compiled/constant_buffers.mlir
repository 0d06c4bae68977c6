// One number for all elements, and elements that are only equal as numbers.
memref.global "private" constant @same : memref<1000x1000xf32> = dense<-1.5>
memref.global "private" constant @zeros : memref<4xf64> = dense<[0.0, -0.0, 0.0, -0.0]>
memref.global "private" constant @flags : memref<3xi1> = dense<true>
memref.global "private" constant @none : memref<0xi32> = dense<7>

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 999 : index
  %one = arith.constant 1.0 : f64
  %same = memref.get_global @same : memref<1000x1000xf32>
  %x = memref.load %same[%last, %last] : memref<1000x1000xf32>
  vector.print %x : f32
  %zeros = memref.get_global @zeros : memref<4xf64>
  %y = memref.load %zeros[%c0] : memref<4xf64>
  %z = memref.load %zeros[%c1] : memref<4xf64>
  %above = arith.divf %one, %y : f64
  %below = arith.divf %one, %z : f64
  vector.print %above : f64
  vector.print %below : f64
  %flags = memref.get_global @flags : memref<3xi1>
  %f = memref.load %flags[%c1] : memref<3xi1>
  vector.print %f : i1
  %none = memref.get_global @none : memref<0xi32>
  %size = memref.dim %none, %c0 : memref<0xi32>
  vector.print %size : index
  return
}
