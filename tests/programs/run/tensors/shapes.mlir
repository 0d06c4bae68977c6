// Every kernel of shapes, in short form and in quotes.
func @short_forms() -> (i1, i64, i64, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %a = ts.build_shape [1 : i64, 57 : i64, 92 : i64]
  %ch1 = ts.print_shape %a, %ch0
  %b = ts.build_shape []
  %ch2 = ts.print_shape %b, %ch1
  %e = ts.equal_shape %a, %b
  %i = tfrt.constant.i32 1
  %d = ts.get_dimension %a, %i
  %n = ts.get_num_elements %a
  %p = ts.build_partial_shape [-1 : i64, 4 : i64]
  %ch3 = ts.print_partial_shape %p, %ch2
  %u = ts.build_unranked_partial_shape
  %ch4 = ts.print_partial_shape %u, %ch3
  %q = ts.to_partial_shape %a
  %ch5 = ts.print_partial_shape %q, %ch4
  %s = ts.to_shape %q
  %ch6 = ts.print_shape %s, %ch5
  tfrt.return %e, %d, %n, %ch6 : i1, i64, i64, !tfrt.chain
}

func @in_quotes() -> (i1, i64, i64, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %a = "ts.build_shape"() {value = [0 : i64, 5 : i64]} : () -> !ts.shape
  %ch1 = "ts.print_shape"(%a, %ch0) : (!ts.shape, !tfrt.chain) -> !tfrt.chain
  %e = "ts.equal_shape"(%a, %a) : (!ts.shape, !ts.shape) -> i1
  %i = tfrt.constant.i32 0
  %d = "ts.get_dimension"(%a, %i) : (!ts.shape, i32) -> i64
  %n = "ts.get_num_elements"(%a) : (!ts.shape) -> i64
  %p = "ts.build_partial_shape"() {value = [4 : i64]} : () -> !ts.partial_shape
  %ch2 = "ts.print_partial_shape"(%p, %ch1) : (!ts.partial_shape, !tfrt.chain) -> !tfrt.chain
  %u = "ts.build_unranked_partial_shape"() : () -> !ts.partial_shape
  %q = "ts.to_partial_shape"(%a) : (!ts.shape) -> !ts.partial_shape
  %s = "ts.to_shape"(%q) : (!ts.partial_shape) -> !ts.shape
  %ch3 = "ts.print_shape"(%s, %ch2) : (!ts.shape, !tfrt.chain) -> !tfrt.chain
  tfrt.return %e, %d, %n, %ch3 : i1, i64, i64, !tfrt.chain
}

func @fixed_ranks() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = ts.build_shape []
  %b = ts.as_fixed_rank_shape.0 %a
  %ch1 = ts.print_fixed_rank_shape.0 %b, %ch0
  %c = ts.build_shape [7 : i64]
  %d = ts.as_fixed_rank_shape.1 %c
  %ch2 = ts.print_fixed_rank_shape.1 %d, %ch1
  %e = ts.build_shape [7 : i64, 8 : i64]
  %f = ts.as_fixed_rank_shape.2 %e
  %ch3 = ts.print_fixed_rank_shape.2 %f, %ch2
  %g = ts.build_shape [7 : i64, 8 : i64, 9 : i64]
  %h = "ts.as_fixed_rank_shape.3"(%g) : (!ts.shape) -> !ts.fixed_rank_shape.3
  %ch4 = "ts.print_fixed_rank_shape.3"(%h, %ch3) : (!ts.fixed_rank_shape.3, !tfrt.chain) -> !tfrt.chain
  %i = ts.build_shape [1 : i64, 2 : i64, 3 : i64, 4 : i64]
  %j = ts.as_fixed_rank_shape.4 %i
  %ch5 = ts.print_fixed_rank_shape.4 %j, %ch4
  %k = ts.build_shape [1 : i64, 2 : i64, 3 : i64, 4 : i64, 5 : i64]
  %l = ts.as_fixed_rank_shape.5 %k
  %ch6 = ts.print_fixed_rank_shape.5 %l, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

func @mistakes() -> (i64, i64, !ts.shape, !ts.shape) {
  %a = ts.build_shape [7 : i64, 8 : i64]
  %i = tfrt.constant.i32 2
  %0 = ts.get_dimension %a, %i // expected-error {{no dimension 2 in shape [7, 8]}}
  %j = tfrt.constant.i32 -1
  %1 = ts.get_dimension %a, %j // expected-error {{no dimension -1 in shape [7, 8]}}
  %u = ts.build_unranked_partial_shape
  %2 = ts.to_shape %u // expected-error {{Unknown rank}}
  %p = ts.build_partial_shape [-1 : i64, 2 : i64, -1 : i64]
  %3 = ts.to_shape %p // expected-error {{Unknown dimensions at following indices = [0, 2]}}
  %f = ts.as_fixed_rank_shape.1 %a // expected-error {{expected a shape of rank 1, not [7, 8]}}
  tfrt.return %0, %1, %2, %3 : i64, i64, !ts.shape, !ts.shape
}
