// Operands of another type than the operation takes: what to write instead.
func.func @main() {
  %a = tfrt.constant.i32 1
  %b = tfrt.if %a, %a : (i32) -> (i32) {
    tfrt.return %a : i32
  } else {
    tfrt.return %a : i32
  }
  tfrt.return
}
// -----
func.func @main() {
  %a = tfrt.constant.f32 1.0
  %b = tfrt.add.i32 %a, %a
  tfrt.return
}
// -----
func.func @main() {
  %a = tfrt.constant.i32 1
  %ch = tfrt.new.chain
  %b = tfrt.print.i32 %ch, %a
  tfrt.return
}
// -----
func.func @main() {
  %a = arith.constant 1 : i32
  scf.if %a { }
  return
}
// -----
func.func @main() {
  %a = arith.constant 1 : i32
  %m = memref.alloc() : memref<3xi32>
  %x = memref.load %m[%a] : memref<3xi32>
  return
}
// -----
func.func @main() -> f64 {
  %a = arith.constant 1.0 : f32
  return %a : f64
}
// -----
func.func @main() {
  %a = arith.constant 1.0 : f32
  %b = arith.addi %a, %a : i32
  return
}
// -----
func.func @main() -> i32 {
  %t, %v = async.execute -> !async.value<i32> {
    %c = arith.constant 1 : i32
    async.yield %c : i32
  }
  return %v : i32
}
// -----
func.func @main() {
  %t, %v = async.execute -> !async.value<i32> {
    %c = arith.constant 1 : i32
    async.yield %c : i32
  }
  async.await %v : !async.token
  return
}
// -----
func.func @main() -> i32 {
  %t, %v = async.execute -> !async.value<i32> {
    %c = arith.constant 1 : i32
    async.yield %c : i32
  }
  return %v : !async.value<i32>
}
