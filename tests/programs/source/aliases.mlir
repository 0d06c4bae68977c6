// RUN: print
// Aliases of types, attributes and locations, defined before or after their use.

!flag = i1
#three = dense<3> : tensor<2xi32>

// CHECK-LABEL: func @f(%arg0: i1, %arg1: !tfrt.chain) {
func @f(%x: !flag, %c: !chain) {
  // CHECK-NEXT: %0 = "tfrt_test.const_dense_attr"() {value = dense<3> : tensor<2xi32>} : () -> !t.tensor
  %t = "tfrt_test.const_dense_attr"() {value = #three} : () -> !t.tensor loc(#place)
  // CHECK-NEXT: "golden.op"() {shape = #corert.shape<2x?>} : () -> ()
  "golden.op"() {shape = #shape} : () -> ()
  tfrt.return
}

!chain = !tfrt.chain
#shape = #corert.shape<2x?>
#place = loc(callsite(#callee at "main.py":3:1))
#callee = loc("callee")
