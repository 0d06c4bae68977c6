// Attributes that the compiler reads, with values of another kind, or one letter off.
func.func @main() attributes {tfrt.cost_threshold = "ten"} {
  tfrt.return
}
// -----
func.func @main() attributes {tfrt.sync = true} {
  tfrt.return
}
// -----
func.func @main() attributes {tfrt.cost_treshold = 3 : i64} {
  tfrt.return
}
// -----
module attributes {tfrt.upper_cost_threshold = 1.0 : f32} {
  func.func @main() attributes {tfrt.merge_inter_dependent_streams} {
    tfrt.return
  }
}
// -----
func.func @main() {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, %a {bef.nonstrict = 1 : i32}
  tfrt.return
}
// -----
func.func @main() {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, %a {_tfrt_cost = "cheap"}
  tfrt.return
}
