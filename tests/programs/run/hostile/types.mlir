// Values of another kind than the kernel works on: quotes let a program write anything.
func @values() -> (!tfrt.chain, i1, !tfrt.chain, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %i = tfrt.constant.i32 1
  %s = tfrt_test.get_string {value = "s"}
  %1 = "tfrt_test.print_string"(%i, %ch0) : (i32, !tfrt.chain) -> !tfrt.chain // expected-error {{expected a str, found int}}
  %2 = "tfrt_test.string_equal"(%i, %s) : (i32, !tfrt.string) -> i1 // expected-error {{expected a str, found int}}
  %3 = "vt.print"(%s, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain // expected-error {{expected a TracedValue, found str}}
  %5 = "tfrt_test.deallocate_resource"(%i, %ch0) : (i32, !tfrt.chain) -> !tfrt.chain // expected-error {{expected a TestResource, found int}}
  tfrt.return %1, %2, %3, %5 : !tfrt.chain, i1, !tfrt.chain, !tfrt.chain
}

func @elements() -> (!tfrt.chain, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %0 = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch0 1 : i32 // expected-error {{expected a tensor of i32, not of f32}}
  %1 = "tfrt_test.conv2d.f32"(%t, %t, %t, %ch0) {padding = "same", strides = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{expected a tensor of rank 4, not of shape [1]}}
  tfrt.return %0, %1 : !tfrt.chain, !tfrt.chain
}

func @of_native_kernels() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %s = tfrt_test.get_string {value = "s"}
  // expected-error @+1 {{an argument has a different type than the kernel takes}}
  %0 = "tfrt_test.atomic.inc.i32"(%s, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %0 : !tfrt.chain
}
