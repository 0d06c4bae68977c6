// Memory that nobody has, and parts that are not there.
func @sizes() -> (!ht.host_buffer, !ht.host_buffer, !ht.host_buffer, !ht.host_buffer) {
  %one = tfrt.constant.i64 1
  %three = tfrt.constant.i64 3
  %minus = tfrt.constant.i64 -1
  %zero = tfrt.constant.i64 0
  %large = tfrt.constant.i64 9223372036854775807
  %a = tfrt_dht.allocate_buffer %minus, %one // expected-error {{a buffer cannot have -1 bytes}}
  %b = tfrt_dht.allocate_buffer %one, %three // expected-error-re {{alignment 3 is not a power of two up to {{[0-9]+}}}}
  %c = tfrt_dht.allocate_buffer %one, %zero // expected-error {{alignment 0 is not a power of two}}
  %d = tfrt_dht.allocate_buffer %large, %one // expected-error {{Cannot allocate a buffer of 9223372036854775807 bytes}}
  tfrt.return %a, %b, %c, %d : !ht.host_buffer, !ht.host_buffer, !ht.host_buffer, !ht.host_buffer
}

func @parts() -> (!ht.host_buffer, !ht.host_buffer, !ht.host_buffer) {
  %one = tfrt.constant.i64 1
  %eight = tfrt.constant.i64 8
  %minus = tfrt.constant.i64 -1
  %large = tfrt.constant.i64 9223372036854775807
  %a = tfrt_dht.allocate_buffer %eight, %eight
  %b = tfrt_dht.get_buffer_slice %a, %one, %eight // expected-error {{bytes 1 to 9 are not within a buffer of 8 bytes}}
  %c = tfrt_dht.get_buffer_slice %a, %minus, %one // expected-error {{bytes -1 to 0 are not within a buffer of 8 bytes}}
  %d = tfrt_dht.get_buffer_slice %a, %one, %large // expected-error {{bytes 1 to 9223372036854775808 are not within a buffer of 8 bytes}}
  tfrt.return %b, %c, %d : !ht.host_buffer, !ht.host_buffer, !ht.host_buffer
}

func @tensors() -> (!t.tensor, !t.tensor, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %eight = tfrt.constant.i64 8
  %one = tfrt.constant.i64 1
  %seven = tfrt.constant.i64 7
  %a = tfrt_dht.allocate_buffer %eight, %eight
  %s = ts.build_shape [3 : i64]
  // expected-error @+1 {{dht.make_tensor failed: buffer_size (8) is not equal to the number of elements in shape ([3]) times element size (4)}}
  %b, %ch1 = tfrt_dht.make_tensor.i32 %a, %s, %ch0
  %t = ts.build_shape [4611686018427387904 : i64]
  // expected-error @+1 {{dht.make_tensor failed: buffer_size (8) is not equal to the number of elements in shape ([4611686018427387904]) times element size (8)}}
  %c, %ch2 = tfrt_dht.make_tensor.i64 %a, %t, %ch0
  tfrt.return %b, %c, %ch2 : !t.tensor, !t.tensor, !tfrt.chain
}

// A part of a buffer need not be aligned for the elements that somebody reads there.
func @crooked() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.i64 1
  %eight = tfrt.constant.i64 8
  %sixteen = tfrt.constant.i64 16
  %a = tfrt_dht.allocate_buffer %sixteen, %eight
  %b = tfrt_dht.get_buffer_slice %a, %one, %eight
  %s = ts.build_shape [2 : i64]
  %t, %ch1 = tfrt_dht.make_tensor.i32 %b, %s, %ch0
  %ch2 = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch1 -3 : i32
  %ch3 = tfrt_dht.print_tensor %t, %ch2
  %f, %ch4 = tfrt_dht.make_tensor.f32 %b, %s, %ch3
  %ch5 = tfrt_dht.fill_tensor_with_constant.f32 %f, %ch4 1.5 : f32
  %ch6 = "tfrt_test.add_inplace.f32"(%f, %f, %ch5) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch7 = tfrt_dht.print_tensor %f, %ch6
  tfrt.return %ch7 : !tfrt.chain
}
