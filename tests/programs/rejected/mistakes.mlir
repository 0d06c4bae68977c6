// An undefined value.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.add.i32 %a, %missing
  tfrt.return
}
// -----
// An undefined value that resembles another.
func @f(%a: i32, %c: !tfrt.chain) {
  %total = tfrt.add.i32 %a, %a
  %b = tfrt.add.i32 %a, %totla
  tfrt.return
}
// -----
// A value of another type.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.add.i32 %a, %c
  tfrt.return
}
// -----
// A name given twice.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.add.i32 %a, %a
  %b = tfrt.add.i32 %a, %a
  tfrt.return
}
// -----
// A name given twice in one list.
func @f(%a: i32, %c: !tfrt.chain) {
  %b, %b = tfrt.div.i32 %a, %a
  tfrt.return
}
// -----
// Too few names.
func @f(%a: i32, %c: !tfrt.chain) {
  %q = tfrt.div.i32 %a, %a
  tfrt.return
}
// -----
// A name for nothing.
func @f(%a: i32, %c: !tfrt.chain) {
  %q = tfrt.return
  tfrt.return
}
// -----
// A part that a result has not.
func @f(%a: i32, %c: !tfrt.chain) {
  %q:2 = tfrt.div.i32 %a, %a
  %b = tfrt.add.i32 %q#2, %a
  tfrt.return
}
// -----
// Too few operands.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.add.i32 %a
  tfrt.return
}
// -----
// An operation that resembles another.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.ad.i32 %a, %a
  tfrt.return
}
// -----
// An operation of a foreign dialect without quotes.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = golden.op %a
  tfrt.return
}
// -----
// An operation without fixed types in short form.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.alias.value %c, %a
  tfrt.return
}
// -----
// Fewer types than operands.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.call @f(%a, %c) : (i32) -> i32
  tfrt.return
}
// -----
// An unknown type of tensors.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = "golden.op"() : () -> !t.matrix
  tfrt.return
}
// -----
// An unknown type of shapes.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = "golden.op"() : () -> !ts.form
  tfrt.return
}
// -----
// A literal out of range.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.constant.i32 -2147483649
  tfrt.return
}
// -----
// A negative unsigned literal.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.constant.ui32 -1
  tfrt.return
}
// -----
// An integer for a float.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.constant.f32 1
  tfrt.return
}
// -----
// A float that is too large.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.constant.f32 1.0e39
  tfrt.return
}
// -----
// Bits that are too many.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.constant.f32 0x1FFFFFFFF
  tfrt.return
}
// -----
// No literal.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt.constant.i32 %a
  tfrt.return
}
// -----
// A literal of another type.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = tfrt_dht.fill_tensor_with_constant.f32 %a, %c 1.0 : f64
  tfrt.return
}
// -----
// A malformed shape.
func @f(%a: i32, %c: !tfrt.chain) {
  "golden.op"() {shape = #corert.shape<2x>} : () -> ()
  tfrt.return
}
// -----
// An unknown escape.
func @f(%a: i32, %c: !tfrt.chain) {
  "golden.op"() {text = "a\q"} : () -> ()
  tfrt.return
}
// -----
// An unknown alias.
func @f(%a: i32, %c: !tfrt.chain) {
  "golden.op"() {value = #nowhere} : () -> ()
  tfrt.return
}
// -----
// A strange character.
func @f(%a: i32, %c: !tfrt.chain) {
  %b = ;
  tfrt.return
}
// -----
// The same argument twice.
func @f(%a: i32, %c: !tfrt.chain) {
  %t = tfrt.constant.i1 true
  tfrt.if %t, %a, %a : (i32, i32) -> () { tfrt.return }
  tfrt.return
}
// -----
// A value from outside of a body.
func @f(%a: i32, %c: !tfrt.chain) {
  %t = tfrt.constant.i1 true
  tfrt.if %t : () -> () { tfrt.print.i32 %a
 tfrt.return }
  tfrt.return
}
// -----
// A jump to nowhere.
func @f(%a: i32, %c: !tfrt.chain) {
  "golden.jump"() [^end] : () -> ()
  tfrt.return
}
// -----
// A string that is not closed.
func @f(%a: i32, %c: !tfrt.chain) {
  %s = tfrt_test.get_string {value = "open}
  tfrt.return
}
// -----
// Each function reports its own first error.
func @first() -> i32 {
  %a = tfrt.constant.i32 x
  %b = tfrt.nothing
}
func @second() -> i32 {
  %a = tfrt.constant.i32 1
  tfrt.return %b : i32
}
func @third() {
  tfrt.retrun
}
// -----
// Functions in a nested module are recovered as well.
module @outer {
  func @first() {
    %a = tfrt.nothing
  }
  func @second() {
    %a = tfrt.constant.i32 x
    tfrt.return
  }
}
// -----
func @f() {
}
// -----
// A region that is not closed.
func @f() {
  tfrt.return
// -----
// A return may be left out only after a kernel that gives a chain.
func @f() {
  %a = tfrt.constant.i32 1
}
// -----
// The types of merged values may be left out where all are chains.
func @f(%a: i32, %c: !tfrt.chain) -> !tfrt.chain {
  %m = tfrt.merge.chains %c, %a
  tfrt.return %m : !tfrt.chain
}
// -----
func @f(%c: !tfrt.chain) -> !tfrt.chain {
  %m = tfrt.merge.chains %c, %d
  tfrt.return %m : !tfrt.chain
}
