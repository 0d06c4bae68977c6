// Registered operations with other operands, results and attributes than they have.
func @f(%a: i32, %b: i64, %ch: !tfrt.chain) {
  %0 = "tfrt.add.i32"(%a, %b) : (i32, i64) -> i32
  %1 = "tfrt.add.i32"(%a) : (i32) -> i32
  %2 = "tfrt.add.i32"(%a, %a, %ch) : (i32, i32, !tfrt.chain) -> i32
  %3 = "tfrt.add.i32"(%a, %a) : (i32, i32) -> i64
  "tfrt.add.i32"(%a, %a) : (i32, i32) -> ()
  %4 = "tfrt.constant.i32"() : () -> i32
  %5 = "tfrt.constant.i32"() {value = 1 : i64} : () -> i32
  %6 = "tfrt.constant.f32"() {value = 1 : i32} : () -> f32
  %7 = "tfrt_test.get_string"() {value = 1 : i32} : () -> !tfrt.string
  %8 = "ts.build_shape"() {value = [1 : i32]} : () -> !ts.shape
  %9 = "tfrt_test.test_cost"(%a) {id = 1 : i64, _tfrt_cost = 0 : i64} : (i32) -> i32
  %10 = "tfrt_test.test_cost"(%a) {id = 1 : i64, _tfrt_cost = -5 : i64} : (i32) -> i32
  tfrt.return
}
