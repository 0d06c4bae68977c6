// Global buffers of several types and ranks; infinity is written as bits.
memref.global "private" constant @k : memref<2x3x2xi32> = dense<[[[1,2],[3,4],[5,6]],[[7,8],[9,10],[11,12]]]>
memref.global "private" @s : memref<i1> = dense<true>
memref.global "private" @f : memref<3xf32> = dense<[1.5, -2.25, 0x7F800000]>
memref.global "private" @x : memref<3xindex> = dense<[0, -1, 7]>
memref.global "private" @z : memref<2x2xi8> = dense<-5>
func.func private @printI64(i64)
func.func private @printF64(f64)
func.func private @printComma()
func.func private @printNewline()
func.func @main() {
  %k = memref.get_global @k : memref<2x3x2xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %a = %c0 to %c2 step %c1 {
  scf.for %b = %c0 to %c3 step %c1 {
  scf.for %c = %c0 to %c2 step %c1 {
    %v = memref.load %k[%a, %b, %c] : memref<2x3x2xi32>
    %e = arith.extsi %v : i32 to i64
    func.call @printI64(%e) : (i64) -> ()
    func.call @printComma() : () -> ()
  } } }
  %s = memref.get_global @s : memref<i1>
  %sv = memref.load %s[] : memref<i1>
  %se = arith.extui %sv : i1 to i64
  func.call @printI64(%se) : (i64) -> ()
  %f = memref.get_global @f : memref<3xf32>
  %x = memref.get_global @x : memref<3xindex>
  scf.for %a = %c0 to %c3 step %c1 {
    %v = memref.load %f[%a] : memref<3xf32>
    %e = arith.extf %v : f32 to f64
    func.call @printF64(%e) : (f64) -> ()
    func.call @printComma() : () -> ()
    %xv = memref.load %x[%a] : memref<3xindex>
    %xe = arith.index_cast %xv : index to i64
    func.call @printI64(%xe) : (i64) -> ()
    func.call @printComma() : () -> ()
  }
  %z = memref.get_global @z : memref<2x2xi8>
  %zv = memref.load %z[%c1, %c0] : memref<2x2xi8>
  %ze = arith.extsi %zv : i8 to i64
  func.call @printI64(%ze) : (i64) -> ()
  return
}
