// Attributes of several parts.
func @flat() -> (!tfrt.chain, i32, i32, f32) {
  %ch0 = tfrt.new.chain
  %s, %a, %b, %c = "tfrt_test.flat"() {value = [["words", [1 : i32, -2 : i32]], [3.5 : f32]]} : () -> (!tfrt.string, i32, i32, f32)
  %ch1 = "tfrt_test.print_string"(%s, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1, %a, %b, %c : !tfrt.chain, i32, i32, f32
}

func @sums() -> (i32, i64) {
  %a = "tfrt_test.sum_array_attr.i32"() {value = [2147483647 : i32, 1 : i32]} : () -> i32
  %b = "tfrt_test.sum_array_attr.i64"() {value = [1 : i64, 2 : i64, 4 : i64]} : () -> i64
  tfrt.return %a, %b : i32, i64
}

func @sums_of_nothing() -> (i32, i64) {
  %a = "tfrt_test.sum_array_attr.i32"() {value = []} : () -> i32
  %b = "tfrt_test.sum_array_attr.i64"() {value = []} : () -> i64
  tfrt.return %a, %b : i32, i64
}

func @dense() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[1, 2], [3, -4]]> : tensor<2x2xi32>} : () -> !t.tensor
  %ch1 = tfrt_dht.print_tensor %a, %ch0
  %b = "tfrt_test.const_dense_attr"() {value = dense<0.5> : tensor<3xf32>} : () -> !t.tensor
  %ch2 = tfrt_dht.print_tensor %b, %ch1
  %c = "tfrt_test.const_dense_attr"() {value = dense<[true, false]> : tensor<2xi1>} : () -> !t.tensor
  %ch3 = tfrt_dht.print_tensor %c, %ch2
  %d = "tfrt_test.const_dense_attr"() {value = dense<-7> : tensor<i64>} : () -> !t.tensor
  %ch4 = tfrt_dht.print_tensor %d, %ch3
  tfrt.return %ch4 : !tfrt.chain
}

func @wrong_shape() -> f32 {
  // expected-error @+1 {{expected an attribute [["text", [i32, i32]], [f32]]}}
  %s, %a, %b, %c = "tfrt_test.flat"() {value = [["words"], [3.5 : f32]]} : () -> (!tfrt.string, i32, i32, f32)
  tfrt.return %c : f32
}

func @typed() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_test.print_typed_attr %ch0 {value = -7 : i64}
  %ch2 = tfrt_test.print_typed_attr %ch1 {value = 0.25 : f32}
  %ch3 = tfrt_test.print_typed_attr %ch2 {value = true}
  %ch4 = "tfrt_test.print_typed_attr"(%ch3) {value = 1.5e+20 : f64} : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}
