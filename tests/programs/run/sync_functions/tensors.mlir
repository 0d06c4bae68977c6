// Tensors in sync functions, without chains.
func.func @made() -> (i1, i1) attributes {tfrt.sync} {
  %a = tfrt_dht_sync.create_uninitialized_tensor.i32.2 [3 : i64, 2 : i64]
  tfrt_dht_sync.fill_tensor_with_constant.i32 %a 7 : i32
  tfrt_dht_sync.print_tensor %a
  %b = tfrt_dht_sync.create_uninitialized_tensor.i32.2 [3 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %b [7 : i32, 7 : i32, 7 : i32, 7 : i32, 7 : i32, 7 : i32]
  %same = tfrt_dht_sync.tensor_equal.i32 %a, %b
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %b [1 : i32, 2 : i32, 3 : i32, 4 : i32, 5 : i32, 6 : i32]
  %other = tfrt_dht_sync.tensor_equal.i32 %a, %b
  tfrt_dht_sync.print_tensor %b
  tfrt.return %same, %other : i1, i1
}
func.func @wrong() -> i1 attributes {tfrt.sync} {
  %b = "tfrt_dht_sync.create_uninitialized_tensor.f64.1"() {shape = [3 : i64]} : () -> !t.tensor
  "tfrt_dht_sync.fill_tensor_with_constant.f64"(%b) {value = 1.5 : f64} : (!t.tensor) -> ()
  tfrt_dht_sync.print_tensor %b
  %same = tfrt_dht_sync.tensor_equal.f32 %b, %b // expected-error {{expected a tensor of f32, not of f64}}
  tfrt.return %same : i1
}

func.func @strings() attributes {tfrt.sync} {
  %a = "tfrt_sht_sync.create_tensor"() {shape = [2], values = ["pear", "plum"]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %a
  %b = "tfrt_sht_sync.create_uninitialized_tensor"() {shape = [2]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %b
  tfrt.return
}
func.func @too_many_strings() attributes {tfrt.sync} {
  %a = "tfrt_sht_sync.create_uninitialized_tensor"() {shape = [4503599627370496]} : () -> !t.tensor // expected-error {{Cannot allocate tensor}}
  tfrt_dht_sync.print_tensor %a
  tfrt.return
}
