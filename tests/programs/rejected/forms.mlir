// Forms that xDSL or LLVM would stumble over are errors at their place.
func.func @main(%n: index, %v: f32, %i: i128) {
scf.for %k = %k to %n step %n {
}
  return
}
// -----
func.func @main(%n: index, %v: f32, %i: i128) {
scf.parallel (%k) = (%n) to (%k) step (%n) {
}
  return
}
// -----
func.func @main(%n: index, %v: f32, %i: i128) {
%t = async.parallel_for (%k) = (%n) to (%n) step (%k) {
} -> !async.handle
  return
}
// -----
func.func @main(%n: index, %v: f32, %i: i128) {
%r = scf.for %k = %n to %n step %n iter_args(%a = %a) -> index {
scf.yield %a : index
}
  return
}
// -----
func.func @main(%n: index, %v: f32, %i: i128) {
cf.br ^a
^b:
cf.br ^a
^a:
cf.br ^b
^a:
  return
}
// -----
func.func @main(%n: index, %v: f32, %i: i128) {
cf.switch %v : f32, [
default: ^a,
1: ^a
]
^a:
  return
}
// -----
func.func @main(%n: index, %v: f32, %i: i128) {
cf.switch %i : i128, [
default: ^a,
1: ^a
]
^a:
  return
}
// -----
module attributes {a = 0x7F : f128} {}
// -----
module attributes {a = affine_map<(d0)[s0] -> (d0 mod s0)>} {}
// -----
func.func @main() {
^again:
  cf.br ^again
}
// -----
memref.global "private" @x : memref<3xindex> = dense<(0, -1, 7]>
// -----
func.func @main(%n: index, %v: f32, %i: i128) {
linalg.fill
  return
}
// -----
func.func @main(%n: index, %v: f32, %i: i128) {
linalg.matmul (%n, %n : index, index)
  return
}
// -----
func.func @f(%x: f32) {
  %y = arith.extf %x : f32 to f32
  return
}
// -----
func.func @f(%x: f16) {
  %y = arith.extf %x : f16 to bf16
  return
}
// -----
func.func @f(%x: f32) {
  %y = arith.truncf %x : f32 to f64
  return
}
// -----
func.func @f(%x: i64) {
  %y = arith.bitcast %x : i64 to index
  return
}
// -----
func.func @f(%x: index) {
  %y = arith.bitcast %x : index to i8
  return
}
// -----
func.func @f(%x: i8) {
  cf.switch %x : i8, [
    default: ^a,
    7: ^a,
    7: ^a
  ]
^a:
  return
}
// -----
memref.global @g : memref<4xi64, strided<[2]>> = dense<0>
// -----
func.func @main() -> i3 {
  %r = tfrt.call @g() : () -> i3
  tfrt.return %r : i3
}
func.func @g() -> i3 {
  %r = call @g() : () -> i3
  return %r : i3
}
// -----
func.func @main() -> i128 {
  %r = tfrt.call @g() : () -> i128
  tfrt.return %r : i128
}
func.func @g() -> i128 {
  %r = call @g() : () -> i128
  return %r : i128
}
// -----
func.func @main() -> vector<4xf32> {
  %r = tfrt.call @g() : () -> vector<4xf32>
  tfrt.return %r : vector<4xf32>
}
func.func @g() -> vector<4xf32> {
  %r = call @g() : () -> vector<4xf32>
  return %r : vector<4xf32>
}
// -----
memref.global "private" @g : memref<4194304x4194304xi64> = dense<0>
// -----
func.func @f() {
  %a = arith.constant dense<1> : vector<100000000xi64>
  return
}
// -----
func.func @f() {
  "a.b"() {c = dense<"0x01"> : tensor<100000000xi8>} : () -> ()
  tfrt.return
}
// -----
func @f() {
  "golden.op"() {a = dense<1.0> : tensor<1xcomplex<f32>>} : () -> ()
  tfrt.return
}
// -----
func @f() {
  %y = hex.jit_execute(%z) -> i32 {
    tfrt.return %z : i32
  }
  %z = tfrt.constant.i32 1
  tfrt.return
}
// -----
func.func @f(%a: memref<2x2xi8>, %b: memref<2x2xi32>) {
  linalg.matmul ins(%a, %a : memref<2x2xi8>, memref<2x2xi8>) outs(%b : memref<2x2xi32>)
  return
}
// -----
func.func @main() {
  %x = arith.constant 1.5 : f80
  return
}
