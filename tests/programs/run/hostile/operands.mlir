// Operands that a kernel cannot work with.
func @kinds() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %i = tfrt.constant.i32 1
  %s = tfrt_test.get_string {value = "s"}
  %0 = "tfrt_dht.print_tensor_shape"(%i, %ch) : (i32, !tfrt.chain) -> !tfrt.chain // expected-error {{expected a tensor, found int}}
  %1 = "tfrt_test.print_tensor_type"(%i, %ch) : (i32, !tfrt.chain) -> !tfrt.chain // expected-error {{expected a tensor, found int}}
  %2 = "tfrt.print.f16"(%s, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain // expected-error {{expected a number, found str}}
  %3 = "tfrt.print.complex64"(%i, %ch) : (i32, !tfrt.chain) -> !tfrt.chain // expected-error {{expected a complex number, found int}}
  %4 = "tfrt_tutorial.print_coordinate"(%s, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain // expected-error {{expected a Coordinate, found str}}
  tfrt.return %0, %1, %2, %3, %4 : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain
}

func @values() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !t.tensor) {
  %ch = tfrt.new.chain
  %i = tfrt.constant.i32 -1
  %j = tfrt.constant.i32 7
  %a = "tfrt_dht.create_uninitialized_tensor.i8.1"() {shape = [1 : i64]} : () -> !t.tensor
  %ch1 = "tfrt_dht.set_tensor_with_values.i8"(%a, %ch, %i) : (!t.tensor, !tfrt.chain, i32) -> !tfrt.chain
  %0 = tfrt_dht.print_tensor %a, %ch1
  %b = tfrt_dht.create_uninitialized_tensor.ui8.1 [1 : i64]
  %1 = "tfrt_dht.set_tensor_with_values.ui8"(%b, %0, %i) : (!t.tensor, !tfrt.chain, i32) -> !tfrt.chain // expected-error {{a value does not fit in u8}}
  %c = "tfrt_dht.create_uninitialized_tensor.i16.1"() {shape = [1 : i64]} : () -> !t.tensor
  %ch2 = "tfrt_dht.set_tensor_with_values.i16"(%c, %0, %j) : (!t.tensor, !tfrt.chain, i32) -> !tfrt.chain
  %2 = tfrt_dht.print_tensor %c, %ch2
  %d = "tfrt_dht.create_uninitialized_tensor.ui16.1"() {shape = [1 : i64]} : () -> !t.tensor
  %ch3 = "tfrt_dht.set_tensor_with_values.ui16"(%d, %2, %j) : (!t.tensor, !tfrt.chain, i32) -> !tfrt.chain
  %3 = tfrt_dht.print_tensor %d, %ch3
  %4 = "tfrt_dht.set_tensor_with_values.ui16"(%d, %3, %ch) : (!t.tensor, !tfrt.chain, !tfrt.chain) -> !tfrt.chain // expected-error {{a value does not fit in u16}}
  %5 = "tfrt_sht.create_tensor"() {shape = [2 : i64], values = [[1 : i32], "a"]} : () -> !t.tensor // expected-error {{the values of a string tensor must be strings}}
  tfrt.return %0, %1, %2, %3, %4, %5 : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !t.tensor
}

func @shapes() -> (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor, !t.tensor, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 0 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %s = ts.build_shape [2 : i64, 2 : i64]
  %t = ts.build_shape [2 : i64]
  %0 = "tfrt_test.broadcast.f32.2"(%b, %s, %ch) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor // expected-error {{cannot broadcast a tensor of shape [2, 3] to [2, 2]}}
  %1 = "tfrt_test.broadcast.f32.2"(%b, %t, %ch) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor // expected-error {{expected a shape of rank 2, not [2]}}
  %2 = "tfrt_test.softmax.f32"(%a, %b, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{softmax of shape [2, 0] does not fit in shape [2, 3]}}
  %3 = "tfrt_test.argmax.f32.2"(%a, %ch) : (!t.tensor, !tfrt.chain) -> !t.tensor // expected-error {{a tensor of shape [2, 0] is empty: it has no largest element}}
  %4 = "tfrt_test.add.f32"(%a, %ch) : (!t.tensor, !tfrt.chain) -> !t.tensor // expected-error {{expected 2 or 3 tensors, not 1}}
  %5 = "tfrt_test.add_inplace.f32"(%a, %ch) : (!t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{expected 2 tensors, not 1}}
  tfrt.return %0, %1, %2, %3, %4, %5 : !t.tensor, !t.tensor, !tfrt.chain, !t.tensor, !t.tensor, !tfrt.chain
}

func @images() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 1 : i64]
  %0 = "tfrt_test.max_pooling_2d.f32"(%a, %a, %ch) {padding = "valid", pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{the result has shape [1, 2, 2, 3], but needs [1, 1, 1, 3]}}
  %1 = "tfrt_test.batch_norm_inplace.f32"(%a, %b, %b, %b, %b, %ch) {epsilon = 0.0 : f32} : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{BatchNorm parameter of shape [2] for images [1, 2, 2, 3]}}
  %2 = "tfrt_test.global_average.f32"(%a, %c, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain // expected-error {{the result has shape [1, 1], but needs [1, 3]}}
  tfrt.return %0, %1, %2 : !tfrt.chain, !tfrt.chain, !tfrt.chain
}

func @sparse() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %ch 1.0 : f32
  %b, %ch2 = coo.convert_dht_to_coo.f32.1 %a, %ch1
  // expected-error @+1 {{expected a sparse tensor of i32 and rank 2, not of f32 and shape [1]}}
  %c, %ch3 = coo.convert_coo_to_dht.i32.2 %b, %ch2
  tfrt.return %ch3 : !tfrt.chain
}

func @twice() -> (!tfrt.chain, !tfrt.string) {
  %ch = tfrt.new.chain
  %r, %ch1 = "tfrt_test.allocate_resource"(%ch) : (!tfrt.chain) -> (!tfrt_test.resource, !tfrt.chain)
  %ch2 = "tfrt_test.deallocate_resource"(%r, %ch1) : (!tfrt_test.resource, !tfrt.chain) -> !tfrt.chain
  %ch3 = "tfrt_test.deallocate_resource"(%r, %ch2) : (!tfrt_test.resource, !tfrt.chain) -> !tfrt.chain // expected-error {{the resource was deallocated before}}
  %form = tfrt_test.get_string {value = "%99999999d"}
  %i = tfrt.constant.i32 1
  %s = "tfrt_test.format_string"(%form, %i) : (!tfrt.string, i32) -> !tfrt.string // expected-error {{format '%99999999d' is wider than 4096 characters}}
  tfrt.return %ch3, %s : !tfrt.chain, !tfrt.string
}

func @too_many() -> (!tfrt.string, !tfrt.string, !tfrt.string) {
  %ch = tfrt.new.chain
  %s = tfrt_test.get_string {value = "s"}
  %0 = "tfrt_test.append_string"(%s, %s, %ch) : (!tfrt.string, !tfrt.string, !tfrt.chain) -> !tfrt.string
  %1 = "tfrt_test.append_string"(%s, %s, %s) : (!tfrt.string, !tfrt.string, !tfrt.string) -> !tfrt.string // expected-error {{'tfrt_test.append_string' takes 2 arguments, found 3}}
  %2 = "tfrt_test.append_string"(%s, %s, %ch, %ch) : (!tfrt.string, !tfrt.string, !tfrt.chain, !tfrt.chain) -> !tfrt.string // expected-error {{'tfrt_test.append_string' takes 2 arguments, found 3}}
  tfrt.return %0, %1, %2 : !tfrt.string, !tfrt.string, !tfrt.string
}
