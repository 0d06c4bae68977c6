// Shapes that nothing can have.
func @negative() -> (!t.tensor, !ts.shape) {
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [-1 : i64] // expected-error {{negative size in shape [-1]}}
  %b = ts.build_shape [2 : i64, -9223372036854775808 : i64] // expected-error {{negative size in shape [2, -9223372036854775808]}}
  tfrt.return %a, %b : !t.tensor, !ts.shape
}

func @too_large() -> (!t.tensor, !t.tensor, !ts.shape, !t.tensor) {
  %a = tfrt_dht.create_uninitialized_tensor.ui8.1 [4611686018427387904 : i64] // expected-error {{Cannot allocate tensor}}
  %b = "tfrt_dht.create_uninitialized_tensor.f64.2"() {shape = [4611686018427387904 : i64, 1 : i64]} : () -> !t.tensor // expected-error {{Cannot allocate tensor}}
  %c = ts.build_shape [4611686018427387904 : i64, 4 : i64]
  %d = tfrt_dht.create_uninitialized_tensor.complex128.3 [2147483648 : i64, 2147483648 : i64, 2147483648 : i64] // expected-error {{Cannot allocate tensor}}
  tfrt.return %a, %b, %c, %d : !t.tensor, !t.tensor, !ts.shape, !t.tensor
}

func @huge_but_empty() -> (i64, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [9223372036854775807 : i64, 0 : i64] // expected-error {{Cannot allocate tensor of shape [9223372036854775807, 0]}}
  %ch1 = tfrt_dht.print_tensor %a, %ch0
  %s = tfrt_dht.get_tensor_shape %a
  %n = ts.get_num_elements %s
  tfrt.return %n, %ch1 : i64, !tfrt.chain
}

func @another_rank() -> (!t.tensor, !t.tensor) {
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64, 1 : i64] // expected-error {{expected 1 sizes, not 2}}
  %b = tfrt_dht.create_uninitialized_tensor.i32.2 [] // expected-error {{expected 2 sizes, not 0}}
  tfrt.return %a, %b : !t.tensor, !t.tensor
}

func @less_than_unknown() -> !ts.partial_shape {
  %a = ts.build_partial_shape [-2 : i64] // expected-error {{negative size in shape [-2]}}
  tfrt.return %a : !ts.partial_shape
}

func @strings_that_do_not_fit() -> (!t.tensor, !t.tensor) {
  %a = "tfrt_sht.create_tensor"() {shape = [3 : i64], values = ["one"]} : () -> !t.tensor // expected-error-re {{{{.+}}}}
  %b = "tfrt_sht.create_tensor"() {shape = [-3 : i64], values = ["one"]} : () -> !t.tensor // expected-error {{negative size}}
  tfrt.return %a, %b : !t.tensor, !t.tensor
}

func @counted() -> (i64, i64, i64, i64, i64) {
  %a = ts.build_shape [12 : i64, 1 : i64, 70000 : i64]
  %b = ts.build_shape []
  %c = ts.build_shape [0 : i64, 5 : i64]
  %d = ts.build_shape [8589934592 : i64, 2 : i64]
  %e = ts.build_shape [0 : i64, 4611686018427387904 : i64, 8 : i64]
  %0 = ts.get_num_elements %a
  %1 = ts.get_num_elements %b
  %2 = ts.get_num_elements %c
  %3 = ts.get_num_elements %d
  %4 = ts.get_num_elements %e
  tfrt.return %0, %1, %2, %3, %4 : i64, i64, i64, i64, i64
}

// A shape beyond any memory is a value; only its elements cannot be counted.
func @uncountable() -> (i1, i64, i64, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a = ts.build_shape [4611686018427387904 : i64, 2 : i64]
  %b = ts.build_shape [4294967296 : i64, 4294967296 : i64, 4294967296 : i64]
  %ch1 = ts.print_shape %a, %ch
  %ch2 = ts.print_shape %b, %ch1
  %same = ts.equal_shape %a, %a
  %0 = ts.get_num_elements %a // expected-error {{does not fit into i64}}
  %1 = ts.get_num_elements %b // expected-error {{does not fit into i64}}
  tfrt.return %same, %0, %1, %ch2 : i1, i64, i64, !tfrt.chain
}

func @without() -> (i64, i64, !ts.fixed_rank_shape.3) {
  %a = ts.build_shape [3 : i64, 4 : i64]
  %minus = tfrt.constant.i32 -1
  %two = tfrt.constant.i32 2
  %0 = ts.get_dimension %a, %minus // expected-error {{no dimension -1 in shape [3, 4]}}
  %1 = ts.get_dimension %a, %two // expected-error {{no dimension 2 in shape [3, 4]}}
  %2 = ts.as_fixed_rank_shape.3 %a // expected-error {{expected a shape of rank 3, not [3, 4]}}
  tfrt.return %0, %1, %2 : i64, i64, !ts.fixed_rank_shape.3
}
