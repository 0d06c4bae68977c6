// RUN: print
// The first spelling: hex, dht, calls that are non-strict without saying so, returns left out.

// CHECK: func private @native_add(i32, i32) -> i32 attributes {tfrt.native}
func @native_add(%a: i32, %b: i32) -> i32 attributes {hex.native}

// CHECK-LABEL: func @countdown(%arg0: i32) -> i32 {
func @countdown(%n: i32) -> i32 {
  // CHECK-NEXT: %0 = tfrt.constant.i32 1
  %one = hex.constant.i32 1
  // CHECK-NEXT: %1 = "tfrt.lessequal.i32"(%arg0, %0) : (i32, i32) -> i1
  %stop = "hex.lessequal.i32"(%n, %one) : (i32, i32) -> (i1)
  // CHECK-NEXT: %2 = tfrt.if %1, %arg0 attributes {bef.nonstrict} : (i32) -> (i32)  {
  %r = hex.if %stop, %n : (i32) -> (i32) {
    // CHECK-NEXT: tfrt.return %arg0 : i32
    hex.return %n : i32
  // CHECK-NEXT: } else  {
  } else {
    // CHECK-NEXT: %3 = tfrt.constant.i32 -1
    %m = hex.constant.i32 -1
    // CHECK-NEXT: %4 = "tfrt_test.async_add.i32"(%arg0, %3) : (i32, i32) -> i32
    %k = "hex.async_add.i32"(%n, %m) : (i32, i32) -> i32
    // CHECK-NEXT: %5 = tfrt.call @countdown(%4) {bef.nonstrict} : (i32) -> i32
    %s = hex.call @countdown(%k) : (i32) -> i32
    // CHECK-NEXT: tfrt.return %5 : i32
    hex.return %s : i32
  }
  // CHECK: tfrt.return %2 : i32
  hex.return %r : i32
}

// CHECK-LABEL: func @loops(%arg0: !tfrt.chain, %arg1: i1) -> !tfrt.chain {
func @loops(%ch: !hex.chain, %flag: i1) -> !hex.chain {
  %n = hex.constant.i32 3
  // CHECK: %1:2 = tfrt.repeat.i32 %0, %arg0, %0 attributes {bef.nonstrict} : !tfrt.chain, i32 {
  %r:2 = hex.repeat.i32 %n, %ch, %n : !hex.chain, i32 {
    // CHECK-NEXT: %{{.*}} = tfrt.print.i32 %0, %arg0
    %c = hex.print.i32 %n, %ch
    hex.return %c, %n : !hex.chain, i32
  }
  // CHECK: tfrt.repeat.i32 %0 attributes {bef.nonstrict} {
  hex.repeat.i32 %n {
    hex.return
  }
  hex.return %r#0 : !hex.chain
}

// CHECK-LABEL: func @tensors(%arg0: !t.tensor) {
func @tensors(%t: !dht.dense_host_tensor.i32.2) {
  // CHECK-NEXT: %0 = tfrt_dht.create_uninitialized_tensor.i32.2 [2, 3]
  %a = dht.create_uninit_tensor.i32.2 [2 : i32, 3 : i32]
  // CHECK-NEXT: %1 = tfrt_dht.fill_tensor_with_constant.i32 %0 41 : i32
  %c = dht.fill_tensor.i32 %a, 41
  // CHECK-NEXT: %2 = tfrt_dht.print_tensor %0, %1
  dht.print_tensor.i32 %a, %c
  // CHECK-NEXT: tfrt.return
}
