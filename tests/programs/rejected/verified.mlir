// Operations in quotes are checked like short forms; calls, functions and modules as wholes.
func @f(%a: i32) {
  "tfrt.constant.i32"() : () -> i32
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.and.i1"(%a, %a) : (i32, i32) -> i1
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.print.i32"(%a, %a) : (i32, i32) -> !tfrt.chain
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.add.f32"(%a, %a) : (i32, i32) -> f32
  tfrt.return
}
// -----
func @f(%a: i32) {
  "ts.build_shape"() {value = [1 : i32]} : () -> !ts.shape
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt_test.get_string"() {value = 1 : i32} : () -> !tfrt.string
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.call"() : () -> ()
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.call"() {callee = 1 : i32} : () -> ()
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.while"() {body_fn = @f} : () -> ()
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.while"(%a) {body_fn = @f} : (i32) -> ()
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.repeat.i32"(%a) : (i32) -> ()
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.repeat.i32"(%a) ({}) : (i32) -> ()
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.repeat.i32"(%a, %a) ({ tfrt.return %a : i32 }) : (i32, i32) -> i32
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt.repeat.i32"(%a) ({ tfrt.return }) : (i32) -> i32
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt_test.benchmark"() ({ tfrt.return %a : i32 }) : () -> i32
  tfrt.return
}
// -----
func @f(%a: i32) {
  "tfrt_test.benchmark"() ({ tfrt.return %a : i32 }) : () -> !tfrt.chain
  tfrt.return
}
// -----
func @id(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @wide(%x: i64) -> i32 {
  %y = tfrt.constant.i32 1
  tfrt.return %y : i32
}
func @f(%a: i32, %t: i1, %c: !tfrt.chain) {
  tfrt.once @wide(%a) : (i32) -> (i32)
  tfrt.return
}
// -----
func @id(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @wide(%x: i64) -> i32 {
  %y = tfrt.constant.i32 1
  tfrt.return %y : i32
}
func @f(%a: i32, %t: i1, %c: !tfrt.chain) {
  tfrt.cond %t @id @wide (%a) : (i32) -> (i32)
  tfrt.return
}
// -----
func @id(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @wide(%x: i64) -> i32 {
  %y = tfrt.constant.i32 1
  tfrt.return %y : i32
}
func @f(%a: i32, %t: i1, %c: !tfrt.chain) {
  tfrt.cond %t @id @no (%a) : (i32) -> (i32)
  tfrt.return
}
// -----
func @id(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @wide(%x: i64) -> i32 {
  %y = tfrt.constant.i32 1
  tfrt.return %y : i32
}
func @f(%a: i32, %t: i1, %c: !tfrt.chain) {
  tfrt.while %t @id(%a) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return
}
// -----
func @id(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @wide(%x: i64) -> i32 {
  %y = tfrt.constant.i32 1
  tfrt.return %y : i32
}
func @f(%a: i32, %t: i1, %c: !tfrt.chain) {
  tfrt.case %a [@id] (%c, %a) : (i32) -> (i32)
  tfrt.return
}
// -----
func @id(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @wide(%x: i64) -> i32 {
  %y = tfrt.constant.i32 1
  tfrt.return %y : i32
}
func @f(%a: i32, %t: i1, %c: !tfrt.chain) {
  tfrt.parallel_call.i32 %a to %a fixed %a @id(%a) : i32
  tfrt.return
}
// -----
"func.func"() : () -> ()
"golden.op"() : () -> ()
// -----
"func.func"() ({}) : () -> ()
"golden.op"() : () -> ()
// -----
"func.func"() ({}) {sym_name = "f"} : () -> ()
"golden.op"() : () -> ()
// -----
"func.func"() ({}) {sym_name = "f", function_type = i32} : () -> ()
"golden.op"() : () -> ()
// -----
"func.func"() ({ tfrt.return }) {sym_name = "f", function_type = (i32) -> ()} : () -> ()
"golden.op"() : () -> ()
// -----
"builtin.module"() : () -> ()
"golden.op"() : () -> ()
// -----
// All independent mistakes are reported.
func @same() -> i64 {
  %a = tfrt.constant.i32 1
  tfrt.call @absent() : () -> ()
  tfrt.return %a : i32
}
func @same() -> (i32, i32) {
  %a = "tfrt.constant.i32"() {value = 1 : i64} : () -> i32
  %b = "tfrt.add.i32"(%a) : (i32) -> i32
  %c = "tfrt.add.i32"(%a, %a) : (i32, i32) -> i64
  "tfrt.new.chain"() : () -> ()
  tfrt.return %a : i32
}
// -----
// A callee is looked up in the module of the caller.
module @inner {
  func @here() {
    tfrt.return
  }
  func @f() {
    tfrt.call @here() : () -> ()
    tfrt.call @there() : () -> ()
    tfrt.return
  }
}
func @there() {
  tfrt.return
}
// -----
func @f(%x: i32) {
  %y = tfrt.add.i32 %x, %x
}
// -----
// A value must be defined before it is used.
func @f() -> i32 {
  %b = "tfrt.add.i32"(%a, %a) : (i32, i32) -> i32
  %a = tfrt.constant.i32 1
  tfrt.return %b : i32
}
// -----
// A value of another block must have run.
func.func @f(%c: i1) -> i32 {
  cf.cond_br %c, ^left, ^right
^left:
  %a = arith.constant 1 : i32
  cf.br ^right
^right:
  return %a : i32
}
// -----
func @f() {
  tfrt.return
  %a = tfrt.new.chain
  tfrt.return
}
// -----
func @f(%x: i32) {
  %y = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 0 : i64} : i32
  tfrt.return
}
// -----
// A value of a region is not known outside of it.
func @f() {
  "golden.op"(%a) : (i32) -> ()
  "golden.region"() ({
    %a = tfrt.constant.i32 1
    tfrt.return
  }) : () -> ()
  tfrt.return
}
