// RUN: print --head
// Functions are func.func, tensors !tfrt_tensor.tensor, and a case says all its types.

// CHECK: func.func private @native(i32) -> i32 attributes {tfrt.native}
func.func private @native(i32) -> i32 attributes {tfrt.native}

// CHECK-LABEL: func.func @branch(%arg0: !tfrt.chain, %arg1: i32) -> (!tfrt.chain, i32) {
func.func @branch(%c: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  tfrt.return %c, %x : !tfrt.chain, i32
}

// CHECK-LABEL: func.func @choose(
func.func @choose(%i: i32, %c: !tfrt.chain, %t: !tfrt_tensor.tensor) -> (i32, !tfrt_tensor.tensor) {
  // CHECK-NEXT: %0:2 = tfrt.case %arg0 [@branch, @branch] (%arg1, %arg0) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  %d, %r = tfrt.case %i [@branch, @branch] (%c, %i) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  // CHECK-NEXT: %1 = tfrt.constant.bf16 -2.500000e-01
  %k = tfrt.constant.bf16 -0.25
  // CHECK-NEXT: tfrt.return %0#1, %arg2 : i32, !tfrt_tensor.tensor
  tfrt.return %r, %t : i32, !tfrt_tensor.tensor
}

// CHECK-LABEL: module @inner attributes {tfrt.compiled} {
module @inner attributes {tfrt.compiled} {
  func.func @entry(%x: i32) -> i32 {
    // CHECK: return %arg0 : i32
    return %x : i32
  }
}
