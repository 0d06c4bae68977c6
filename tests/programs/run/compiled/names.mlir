// Names of functions that the machine code has, too, and names that are no words.
func.func @".global.cells"() {
  return
}
func.func @".live"() {
  return
}
func.func @tfrtInterruptFlag() {
  return
}
func.func @__resume() {
  return
}
func.func @__packed_main() {
  return
}
func.func @"f.limited"(%x: i64) -> i64 {
  return %x : i64
}
func.func @f(%x: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.cmpi eq, %x, %zero : i64
  %r = scf.if %c -> i64 {
    scf.yield %x : i64
  } else {
    %y = arith.subi %x, %one : i64
    %z = func.call @f(%y) : (i64) -> i64
    scf.yield %z : i64
  }
  return %r : i64
}
func.func @"a\22b\0A%"() {
  return
}
func.func @"\F0\9F\98\80"() {
  return
}
func.func @"\FF\00"() {
  return
}
memref.global "private" @cells : memref<4xi64> = dense<5>
func.func @main() -> i64 {
  %cells = memref.get_global @cells : memref<4xi64>
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : i64
  %t = async.execute {
    func.call @__resume() : () -> ()
    func.call @tfrtInterruptFlag() : () -> ()
    async.yield
  }
  async.await %t : !async.token
  func.call @".global.cells"() : () -> ()
  func.call @".live"() : () -> ()
  func.call @__packed_main() : () -> ()
  func.call @"a\22b\0A%"() : () -> ()
  func.call @"\F0\9F\98\80"() : () -> ()
  func.call @"\FF\00"() : () -> ()
  %a = func.call @f(%three) : (i64) -> i64
  %b = func.call @"f.limited"(%three) : (i64) -> i64
  %x = memref.load %cells[%zero] : memref<4xi64>
  %y = arith.addi %x, %a : i64
  %z = arith.addi %y, %b : i64
  return %z : i64
}
