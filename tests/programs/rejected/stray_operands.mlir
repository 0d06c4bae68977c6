// Numbers, texts, words and other values where an operand should be.
func.func @main() {
  %g = async.create_group 2 : !async.group
  return
}
// -----
func.func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, 1
  tfrt.return %b : i32
}
// -----
func.func @main() -> i32 {
  %b = tfrt.add_s.i32 1, 2
  tfrt.return %b : i32
}
// -----
func.func @main() {
  %x = tfrt.constant.f32 1.0
  %s = tfrt.add.f32 %x, -1
  tfrt.return
}
// -----
func.func @main() {
  %ch = tfrt.new.chain
  %s = tfrt_test.print_string "word", %ch
  tfrt.return
}
// -----
func.func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, a
  tfrt.return %b : i32
}
// -----
func.func @main() {
  %a = tfrt.constant.i32 1
  %ch = tfrt.new.chain
  %c1 = tfrt.print.i32 %a, ch
  tfrt.return
}
// -----
func.func @main() {
  %a = tfrt.constant.i32 1
  %s = tfrt.add.i32 %a %a
  tfrt.return
}
// -----
func.func @main() -> i32 {
  tfrt.return 1 : i32
}
// -----
func.func @main() -> i32 {
  %b = tfrt.call @f(1) : (i32) -> i32
  tfrt.return %b : i32
}
// -----
func.func @main() {
  tfrt.if 1 : () -> () {
    tfrt.return
  }
  tfrt.return
}
// -----
func.func @main() {
  %c = tfrt.constant.i32 1
  %x = "tfrt.add.i32"(%c, 3) : (i32, i32) -> i32
  tfrt.return
}
// -----
func.func @main() -> f32 {
  return 1 : f32
}
// -----
func.func @main() -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.addi %a, 1 : i32
  return %b : i32
}
// -----
func.func @main() -> i32 {
  %m = memref.alloc() : memref<3xi32>
  %b = memref.load %m[0] : memref<3xi32>
  return %b : i32
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3xf32>
  memref.store 3, %m[] : memref<3xf32>
  return
}
// -----
func.func @main() {
  %t, %v = async.execute -> !async.value<i32> {
    async.yield 7 : i32
  }
  return
}
// -----
func.func @main() {
  scf.for %i = 0 to 10 step 1 {
  }
  return
}
// -----
func.func @main() {
  async.await token : !async.token
  return
}
// -----
func.func @main() {
  %c = 1
  return
}
// -----
func.func @main() {
  %c = arith.constant 1.0 : f32
  %s = %c / %c
  return
}
// -----
func.func @main() {
  %c = tfrt.constant.i32 1
  %s = %c - %c
  tfrt.return
}
// -----
func.func @main() {
  %c = tfrt.constant.i32 1
  %s = %c
  tfrt.return
}
// -----
// An argument named `%r#1` defines no `%r#0`.
func.func @main(%c: i1, %r: i32) {
  %a:2 = "my.pair"() : () -> (i32, i32)
  tfrt.if %c, %a#1 : (i32) -> () {
    %s = %a + %a
    tfrt.return
  }
  tfrt.return
}
