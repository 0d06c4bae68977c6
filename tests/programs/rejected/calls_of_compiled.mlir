// Calls of compiled functions by host programs that do not fit.
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %c, %y = tfrt.call @f(%x) : (i32) -> (!tfrt.chain, i32)
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %c, %y = tfrt.call @f(%x, %t) : (i32, !t.tensor) -> (!tfrt.chain, i32)
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = tfrt.call @f(%x, %x) : (i32, i32) -> i32
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y, %z = tfrt.call @f(%x, %x) : (i32, i32) -> (!async.token, !async.value<i32>)
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = tfrt.call @unknown(%x) : (i32) -> i32
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = tfrt.call @odd(%t) : (!t.tensor) -> !t.tensor
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  tfrt.call @strided(%t) : (!t.tensor) -> ()
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = tfrt.jit (%t as %m: i32) -> i32 {
    tfrt.return %m : i32
  }
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = tfrt.jit (%x as %m: vector<2xi32>) -> i32 {
    tfrt.return %m : i32
  }
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = tfrt.jit (%x as %m: i32) -> i32 {
    tfrt.return %x : i32
  }
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = tfrt.jit (%x as %m: i32) -> i64 {
    tfrt.return %m : i32
  }
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = tfrt.jit (%x as %m: i32) -> i32 {
    %z = tfrt.add.i32 %m, %m
    tfrt.return %z : i32
  }
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = "tfrt.jit"(%x) : (i32) -> i32
  tfrt.return
}
// -----
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  %y = "tfrt.jit"(%x) ({
^bb0(%m: i64):
    "tfrt.return"(%m) : (i64) -> ()
  }) : (i32) -> i64
  tfrt.return
}
