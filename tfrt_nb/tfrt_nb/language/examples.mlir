// Examples of operations that their signature does not show.  A line //// has the operations, or families, of the
// program below.  NAME, TYPE, RANK, SHAPE, DENSE and OTHER stand for what the operation at hand has; 7^ for a number
// of its type.

//// tfrt.return
func.func @main() -> (i32, !tfrt.chain) {
  %a = tfrt.constant.i32 13
  %ch = tfrt.new.chain
  tfrt.return %a, %ch : i32, !tfrt.chain
}

//// tfrt.call
func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %a = tfrt.constant.i32 13
  %x = tfrt.call @twice(%a) : (i32) -> i32
  tfrt.return %x : i32
}

//// tfrt.case
// The branches are numbered from 0.  A chain goes through the branch that is taken.
func.func @twice(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %ch, %y : !tfrt.chain, i32
}
func.func @square(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  %y = tfrt.mul.i32 %x, %x
  tfrt.return %ch, %y : !tfrt.chain, i32
}
func.func @main() -> (i32, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %a = tfrt.constant.i32 13
  %ch = tfrt.new.chain
  %done, %x = tfrt.case %one [@twice, @square] (%ch, %a) : (i32) -> (i32)
  tfrt.return %x, %done : i32, !tfrt.chain
}

//// tfrt.cond
func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @square(%x: i32) -> i32 {
  %y = tfrt.mul.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %a = tfrt.constant.i32 13
  %b = tfrt.constant.i32 6
  %is_less = tfrt.less.i32 %a, %b
  %x = tfrt.cond %is_less @twice @square (%a) : (i32) -> (i32)
  tfrt.return %x : i32
}

//// tfrt.if
// The regions see only the operands of the `if`, under the same names.
func.func @main() -> i32 {
  %a = tfrt.constant.i32 13
  %b = tfrt.constant.i32 6
  %is_less = tfrt.less.i32 %a, %b
  %x = tfrt.if %is_less, %a, %b : (i32, i32) -> (i32) {
    tfrt.return %a : i32
  } else {
    tfrt.return %b : i32
  }
  tfrt.return %x : i32
}

//// tfrt.repeat
func.func @main() -> (i32, !tfrt.chain) {
  %n = tfrt.constant.i32 3
  %a = tfrt.constant.i32 1
  %ch = tfrt.new.chain
  %x:2 = tfrt.repeat.i32 %n, %a, %ch : i32, !tfrt.chain {
    %twice = tfrt.add.i32 %a, %a
    %printed = tfrt.print.i32 %twice, %ch
    tfrt.return %twice, %printed : i32, !tfrt.chain
  }
  tfrt.return %x#0, %x#1 : i32, !tfrt.chain
}

//// tfrt.while
// The last result of the body says whether there is another round.
func.func @body(%x: i32) -> (i32, i1) {
  %y = tfrt.add.i32 %x, %x
  %limit = tfrt.constant.i32 50
  %again = tfrt.less.i32 %y, %limit
  tfrt.return %y, %again : i32, i1
}
func.func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %x = tfrt.while %yes @body(%a) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %x : i32
}

//// tfrt.parallel_for
// The region runs for blocks of at most %size rounds; %from and %to are those of its block.
func.func @main() -> (i32, !tfrt.chain) {
  %sum = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %from = tfrt.constant.i32 0
  %to = tfrt.constant.i32 10
  %size = tfrt.constant.i32 3
  %all = tfrt.parallel_for.i32 %from to %to fixed %size, %sum : !test.atomic.i32 {
    %n = tfrt.minus.i32 %to, %from
    %ch = tfrt.new.chain
    %added = "tfrt_test.atomic.add.i32"(%sum, %n, %ch) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %added : !tfrt.chain
  }
  %x, %done = "tfrt_test.atomic.get.i32"(%sum, %all) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %x, %done : i32, !tfrt.chain
}

//// tfrt.parallel_call
func.func @block(%from: i32, %to: i32, %sum: !test.atomic.i32) -> !tfrt.chain {
  %n = tfrt.minus.i32 %to, %from
  %ch = tfrt.new.chain
  %added = "tfrt_test.atomic.add.i32"(%sum, %n, %ch) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %added : !tfrt.chain
}
func.func @main() -> (i32, !tfrt.chain) {
  %sum = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %from = tfrt.constant.i32 0
  %to = tfrt.constant.i32 10
  %size = tfrt.constant.i32 3
  %all = tfrt.parallel_call.i32 %from to %to fixed %size @block(%sum) : !test.atomic.i32
  %x, %done = "tfrt_test.atomic.get.i32"(%sum, %all) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %x, %done : i32, !tfrt.chain
}

//// tfrt.once
// The second call has the result of the first: one line is printed.
func.func @make(%ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %x = tfrt.constant.i32 13
  %printed = tfrt.print.i32 %x, %ch
  tfrt.return %x, %printed : i32, !tfrt.chain
}
func.func @main() -> (i32, i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %x, %first = tfrt.once @make(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %y, %done = tfrt.once @make(%first) : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %x, %y, %done : i32, i32, !tfrt.chain
}

//// tfrt.jit
// The region becomes machine code; it sees only its arguments.
func.func @main() -> i32 {
  %a = tfrt.constant.i32 13
  %x = tfrt.jit (%a as %n: i32) -> i32 {
    %square = arith.muli %n, %n : i32
    tfrt.return %square : i32
  }
  tfrt.return %x : i32
}

//// tfrt.jit_execute
func.func @main() -> i32 {
  %a = hex.constant.i32 13
  %x = hex.jit_execute(%a: i32) -> i32 {
    %square = arith.muli %a, %a : i32
    hex.return %square : i32
  }
  hex.return %x : i32
}

//// tfrt.run kernel.return
func.func @main() -> i32 {
  %x = hex.run {
    %a = arith.constant 13 : i32
    %square = arith.muli %a, %a : i32
    kernel.return %square
  } : i32
  hex.return %x : i32
}

//// tfrt.get_device
func.func @main() -> !tfrt.device {
  %ch = tfrt.new.chain
  %x = tfrt.get_device %ch {device_name = "CPU:0"}
  tfrt.return %x : !tfrt.device
}

//// tfrt.get_static_tensor_type tfrt_test.get_static_tensor_type
func.func @main() -> !tfrt.chain {
  %x = "NAME"() {tensor_type = "DenseHost"} : () -> !tfrt.tensor_type
  %ch = tfrt.new.chain
  %done = "tfrt_test.print_tensor_type"(%x, %ch) : (!tfrt.tensor_type, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.print_tensor_type
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = DENSE} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = "tfrt_test.print_tensor_type"(%a, %ch) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

//// tfrt.list tfrt.tuple
// Traced functions have it: Python gets the list or the tuple as the result.
func.func @main() -> !tfrt.object {
  %a = tfrt.constant.i32 13
  %b = tfrt.constant.i32 6
  %x = "NAME"(%a, %b) : (i32, i32) -> !tfrt.object
  tfrt.return %x : !tfrt.object
}

//// tfrt.dict
// Traced functions have it: Python gets {"pear": 13} as the result.
func.func @main() -> !tfrt.object {
  %key = tfrt_test.get_string {value = "pear"}
  %a = tfrt.constant.i32 13
  %x = "tfrt.dict"(%key, %a) : (!tfrt.string, i32) -> !tfrt.object
  tfrt.return %x : !tfrt.object
}

//// tfrt.value
// Traced functions have it where an object of Python must be a value of a type;
// another one is an error.
func.func @main() -> i32 {
  %a = tfrt.constant.i32 13
  %x = "tfrt.value"(%a) : (i32) -> i32
  tfrt.return %x : i32
}

//// tfrt.map
// Traced functions have it: the list of what @twice gives for 13 and for 6.
func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> !tfrt.object {
  %a = tfrt.constant.i32 13
  %b = tfrt.constant.i32 6
  %list = "tfrt.list"(%a, %b) : (i32, i32) -> !tfrt.object
  %x = "tfrt.map"(%list) {f = @twice} : (!tfrt.object) -> !tfrt.object
  tfrt.return %x : !tfrt.object
}

//// tfrt.recover
// Traced functions have it: the division fails, and 0 is taken instead.
func.func @main() -> i32 {
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %zero, %zero
  %x = "tfrt.recover"(%q, %zero) : (i32, i32) -> i32
  tfrt.return %x : i32
}

//// tfrt.kept
// Traced functions have it: the division fails, and its error is an object.
func.func @main() -> !tfrt.object {
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %zero, %zero
  %x = "tfrt.kept"(%q) : (i32) -> !tfrt.object
  tfrt.return %x : !tfrt.object
}

//// tfrt.captured
// A traced function keeps the object for its program; a text has none, and gets this error.
func.func @main() -> !tfrt.object {
  %x = "tfrt.captured"() {slot = 0 : i64} : () -> !tfrt.object
  tfrt.return %x : !tfrt.object
}

//// tfrt.constant.complex64 tfrt.constant.complex128 tfrt.print.complex64 tfrt.print.complex128
func.func @main() -> !tfrt.chain {
  %a = tfrt.constant.WORD 1.5, -2.0
  %ch = tfrt.new.chain
  %done = "tfrt.print.WORD"(%a, %ch) : (TYPE, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

//// tfrt.constant_s.complex64 tfrt.constant_s.complex128
func.func @main() -> TYPE attributes {tfrt.sync} {
  %x = NAME 1.5, -2.0
  tfrt.return %x : TYPE
}

//// tfrt_dht.create_uninitialized_tensor
// The elements are not set; reading them before they are gives any number.
func.func @main() -> !tfrt.chain {
  %x = "NAME"() {shape = SHAPE} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = "tfrt_dht.print_tensor_shape"(%x, %ch) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

//// tfrt_dht_sync.create_uninitialized_tensor
func.func @main() attributes {tfrt.sync} {
  %x = "NAME"() {shape = SHAPE} : () -> !t.tensor
  "tfrt_dht_sync.fill_tensor_with_constant.WORD"(%x) {value = VALUE} : (!t.tensor) -> ()
  tfrt_dht_sync.print_tensor %x
  tfrt.return
}

//// tfrt_dht.fill_tensor_with_constant.complex64 tfrt_dht.fill_tensor_with_constant.complex128
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = DENSE} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = "NAME"(%a, %ch) {real = 1.5 : PART, imaginary = -2.0 : PART} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %a, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_dht.set_tensor_with_constant_values.complex64 tfrt_dht.set_tensor_with_constant_values.complex128
// Real and imaginary parts in turn.
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = DENSE} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = NAME %a, %ch [1.0 : PART, -1.0 : PART, 2.5 : PART, 0.0 : PART]
  %p = tfrt_dht.print_tensor %a, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_dht.set_tensor_with_values.ui8 tfrt_dht.set_tensor_with_values.ui16
// No kernel makes a TYPE, so there are none to set here: the tensor has no elements.
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = dense<> : tensor<0xTYPE>} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = "NAME"(%a, %ch) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %a, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_dht.allocate_buffer tfrt_dht.print_buffer
func.func @main() -> !tfrt.chain {
  %bytes = tfrt.constant.i64 32
  %alignment = tfrt.constant.i64 8
  %b = tfrt_dht.allocate_buffer %bytes, %alignment
  %ch = tfrt.new.chain
  %done = tfrt_dht.print_buffer %b, %ch
  tfrt.return %done : !tfrt.chain
}

//// tfrt_dht.get_buffer
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = DENSE} : () -> !t.tensor
  %ch = tfrt.new.chain
  %b, %got = tfrt_dht.get_buffer %a, %ch
  %done = tfrt_dht.print_buffer %b, %got
  tfrt.return %done : !tfrt.chain
}

//// tfrt_dht.get_buffer_slice
func.func @main() -> !tfrt.chain {
  %size = tfrt.constant.i64 32
  %eight = tfrt.constant.i64 8
  %b = tfrt_dht.allocate_buffer %size, %eight
  %part = tfrt_dht.get_buffer_slice %b, %eight, %eight
  %ch = tfrt.new.chain
  %done = tfrt_dht.print_buffer %part, %ch
  tfrt.return %done : !tfrt.chain
}

//// tfrt_dht.make_tensor
// The tensor is over the memory of another one: what is read is what the first one has.
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = DENSE} : () -> !t.tensor
  %ch = tfrt.new.chain
  %b, %got = tfrt_dht.get_buffer %a, %ch
  %shape = ts.build_shape [1 : i64, 2 : i64]
  %x, %made = "NAME"(%b, %shape, %got) : (!ht.host_buffer, !ts.shape, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %done = tfrt_dht.print_tensor %x, %made
  tfrt.return %done : !tfrt.chain
}

//// tfrt_sht.create_tensor
func.func @main() -> !tfrt.chain {
  %x = "tfrt_sht.create_tensor"() {shape = [2 : i64], values = ["pear", "plum"]} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = tfrt_dht.print_tensor %x, %ch
  tfrt.return %done : !tfrt.chain
}

//// tfrt_sht_sync.create_tensor
func.func @main() attributes {tfrt.sync} {
  %x = "tfrt_sht_sync.create_tensor"() {shape = [2 : i64], values = ["pear", "plum"]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %x
  tfrt.return
}

//// tfrt_sht_sync.create_uninitialized_tensor
func.func @main() attributes {tfrt.sync} {
  %x = "tfrt_sht_sync.create_uninitialized_tensor"() {shape = [2 : i64]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %x
  tfrt.return
}

//// tfrt_test.const_dense_attr
func.func @main() -> !tfrt.chain {
  %x = "tfrt_test.const_dense_attr"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = tfrt_dht.print_tensor %x, %ch
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.sync.const_dense_attr
func.func @main() attributes {tfrt.sync} {
  %x = "tfrt_test.sync.const_dense_attr"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %x
  tfrt.return
}

//// coo.convert_coo_to_dht
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = DENSE} : () -> !t.tensor
  %ch = tfrt.new.chain
  %sparse, %made = "coo.convert_dht_to_coo.WORD.RANK"(%a, %ch) : (!t.tensor, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %x, %back = "NAME"(%sparse, %made) : (!t.tensor, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %done = tfrt_dht.print_tensor %x, %back
  tfrt.return %done : !tfrt.chain
}

//// coo.tensor_equal
func.func @main() -> (i1, !tfrt.chain) {
  %a = "tfrt_test.const_dense_attr"() {value = DENSE} : () -> !t.tensor
  %ch = tfrt.new.chain
  %sparse, %made = "coo.convert_dht_to_coo.WORD.RANK"(%a, %ch) : (!t.tensor, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  %x, %done = "NAME"(%sparse, %sparse, %made) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  tfrt.return %x, %done : i1, !tfrt.chain
}

//// btf.read_dense_tensor
// The file has two tensors: number 0 is dense, number 1 is sparse.
func.func @main() -> !tfrt.chain {
  %path = tfrt_test.get_string {value = "WORD.RANK.btf"}
  %number = tfrt.constant.i32 0
  %x = "NAME"(%path, %number) : (!tfrt.string, i32) -> !t.tensor
  %ch = tfrt.new.chain
  %done = tfrt_dht.print_tensor %x, %ch
  tfrt.return %done : !tfrt.chain
}

//// btf.read_coo_tensor
// The file has two tensors: number 0 is dense, number 1 is sparse.
func.func @main() -> !tfrt.chain {
  %path = tfrt_test.get_string {value = "WORD.RANK.btf"}
  %number = tfrt.constant.i32 1
  %x = "NAME"(%path, %number) : (!tfrt.string, i32) -> !t.tensor
  %ch = tfrt.new.chain
  %done = tfrt_dht.print_tensor %x, %ch
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.broadcast
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = DENSE} : () -> !t.tensor
  %shape = ts.build_shape WIDE
  %ch = tfrt.new.chain
  %x = "NAME"(%a, %shape, %ch) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %done = tfrt_dht.print_tensor %x, %ch
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.matmul
// 2 times the product, plus 1 times what %c has.
func.func @main() -> !tfrt.chain {
  %two = tfrt.constant.WORD 2^
  %one = tfrt.constant.WORD 1^
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[1^, 2^]]> : tensor<1x2xTYPE>} : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() {value = dense<[[3^], [4^]]> : tensor<2x1xTYPE>} : () -> !t.tensor
  %c = "tfrt_test.const_dense_attr"() {value = dense<[[5^]]> : tensor<1x1xTYPE>} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = "NAME"(%two, %a, %b, %one, %c, %ch) : (TYPE, !t.tensor, !t.tensor, TYPE, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %c, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.conv2d
// An image of 3 x 3 pixels, one filter of 2 x 2: the first pixel of each window less the
// last one.
func.func @main() -> !tfrt.chain {
  %image = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>} : () -> !t.tensor
  %filter = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[-1.0]]]]> : tensor<2x2x1x1xf32>} : () -> !t.tensor
  %target = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch = tfrt.new.chain
  %done = "tfrt_test.conv2d.f32"(%image, %filter, %target, %ch) {padding = "valid", strides = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %target, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.max_pooling_2d
func.func @main() -> !tfrt.chain {
  %image = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>} : () -> !t.tensor
  %target = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 1 : i64, 1 : i64]
  %ch = tfrt.new.chain
  %done = "tfrt_test.max_pooling_2d.f32"(%image, %target, %ch) {padding = "valid", pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %target, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.global_average
func.func @main() -> !tfrt.chain {
  %image = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>} : () -> !t.tensor
  %target = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 1 : i64]
  %ch = tfrt.new.chain
  %done = "tfrt_test.global_average.f32"(%image, %target, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %target, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.batch_norm_inplace
// One channel: 2 * (pixel - 1) / sqrt(3 + 1) + 10.
func.func @main() -> !tfrt.chain {
  %image = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>} : () -> !t.tensor
  %scale = "tfrt_test.const_dense_attr"() {value = dense<[2.0]> : tensor<1xf32>} : () -> !t.tensor
  %offset = "tfrt_test.const_dense_attr"() {value = dense<[10.0]> : tensor<1xf32>} : () -> !t.tensor
  %mean = "tfrt_test.const_dense_attr"() {value = dense<[1.0]> : tensor<1xf32>} : () -> !t.tensor
  %variance = "tfrt_test.const_dense_attr"() {value = dense<[3.0]> : tensor<1xf32>} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = "tfrt_test.batch_norm_inplace.f32"(%image, %scale, %offset, %mean, %variance, %ch) {epsilon = 1.0 : f32} : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %image, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.slice_inplace
// From [0, 0, 1] on, as much as the target holds.
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[[1^, 2^, 3^]]]> : tensor<1x1x3xTYPE>} : () -> !t.tensor
  %from = "tfrt_test.const_dense_attr"() {value = dense<[0, 0, 1]> : tensor<3xi64>} : () -> !t.tensor
  %target = "tfrt_test.const_dense_attr"() {value = dense<[[[0^, 0^]]]> : tensor<1x1x2xTYPE>} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = "NAME"(%a, %from, %ch, %target) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %target, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.relu_inplace
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = dense<[-3^, 5^]> : tensor<2xTYPE>} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = "NAME"(%a, %ch) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %a, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.relu.f32
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = dense<[-3.0, 5.0]> : tensor<2xf32>} : () -> !t.tensor
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch = tfrt.new.chain
  %done = "tfrt_test.relu.f32"(%a, %b, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %b, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.relu.i32
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = dense<[-3, 5]> : tensor<2xi32>} : () -> !t.tensor
  %ch = tfrt.new.chain
  %x = "tfrt_test.relu.i32"(%a, %ch) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %done = tfrt_dht.print_tensor %x, %ch
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.flatten
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>} : () -> !t.tensor
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 4 : i64]
  %ch = tfrt.new.chain
  %done = "tfrt_test.flatten.f32"(%a, %b, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %b, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.softmax_inplace
func.func @main() -> !tfrt.chain {
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[0.0, 0.0, 1.0]]> : tensor<1x3xf32>} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = "tfrt_test.softmax_inplace.f32"(%a, %ch) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %p = tfrt_dht.print_tensor %a, %done
  tfrt.return %p : !tfrt.chain
}

//// tfrt_test.allocate_resource tfrt_test.deallocate_resource
func.func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %resource, %made = "tfrt_test.allocate_resource"(%ch) : (!tfrt.chain) -> (!tfrt.test.resource, !tfrt.chain)
  %done = "tfrt_test.deallocate_resource"(%resource, %made) : (!tfrt.test.resource, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.benchmark
func.func @main() -> !tfrt.chain {
  %a = tfrt.constant.i32 13
  %done = tfrt_test.benchmark "add"(%a : i32) duration_secs = 1, max_count = 3, num_warmup_runs = 1 {
    %b = tfrt.add.i32 %a, %a
    tfrt.return %b : i32
  }
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.sync_benchmark
func.func @twice(%a: i32) -> i32 attributes {tfrt.sync} {
  %b = tfrt.add_s.i32 %a, %a
  tfrt.return %b : i32
}
func.func @main() -> !tfrt.chain {
  %a = tfrt.constant.i32 13
  %done = tfrt_test.sync_benchmark @twice(%a : i32) duration_secs = 1, max_count = 3, num_warmup_runs = 1
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.do.async
func.func @main() -> i32 {
  %a = tfrt.constant.i32 13
  %x = tfrt_test.do.async %a : (i32) -> (i32) {
    %b = tfrt.add.i32 %a, %a
    tfrt.return %b : i32
  }
  tfrt.return %x : i32
}

//// tfrt_test.print_typed_attr
func.func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %done = tfrt_test.print_typed_attr %ch {value = 7.5 : f32}
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.test_cost
func.func @main() -> i32 {
  %a = tfrt.constant.i32 13
  %x = tfrt_test.test_cost %a {id = 7 : i64, _tfrt_cost = 100 : i64} : i32
  tfrt.return %x : i32
}

//// tfrt_test.flat
func.func @main() -> (i32, i32, f32, !tfrt.chain) {
  %s, %x, %y, %z = "tfrt_test.flat"() {value = [["pear", [1 : i32, -2 : i32]], [3.5 : f32]]} : () -> (!tfrt.string, i32, i32, f32)
  %ch = tfrt.new.chain
  %done = "tfrt_test.print_string"(%s, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %x, %y, %z, %done : i32, i32, f32, !tfrt.chain
}

//// tfrt_test.sum_array_attr
func.func @main() -> TYPE {
  %x = "NAME"() {value = [1 : TYPE, 2 : TYPE, 4 : TYPE]} : () -> TYPE
  tfrt.return %x : TYPE
}

//// tfrt_test.invoke_sync_function.i32_i32.i32
func.func @sum(%x: i32, %y: i32) -> i32 attributes {tfrt.sync} {
  %z = tfrt.add_s.i32 %x, %y
  tfrt.return %z : i32
}
func.func @main() -> i32 attributes {tfrt.sync} {
  %a = tfrt.constant_s.i32 13
  %b = tfrt.constant_s.i32 6
  %x = "NAME"(%a, %b) {fn = @sum} : (i32, i32) -> i32
  tfrt.return %x : i32
}

//// tfrt_test.invoke_sync_function.i32_i32.i32_i32
func.func @both(%x: i32, %y: i32) -> (i32, i32) attributes {tfrt.sync} {
  %sum = tfrt.add_s.i32 %x, %y
  %less = tfrt.minus_s.i32 %x, %y
  tfrt.return %sum, %less : i32, i32
}
func.func @main() -> (i32, i32) attributes {tfrt.sync} {
  %a = tfrt.constant_s.i32 13
  %b = tfrt.constant_s.i32 6
  %x, %y = "NAME"(%a, %b) {fn = @both} : (i32, i32) -> (i32, i32)
  tfrt.return %x, %y : i32, i32
}

//// tfrt_test.get_string_sync
func.func @main() -> !tfrt.string attributes {tfrt.sync} {
  %x = "tfrt_test.get_string_sync"() {value = "pear"} : () -> !tfrt.string
  tfrt.return %x : !tfrt.string
}

//// tfrt_test.format_string
func.func @main() -> !tfrt.chain {
  %pattern = tfrt_test.get_string {value = "%d pears"}
  %n = tfrt.constant.i32 13
  %x = "tfrt_test.format_string"(%pattern, %n) : (!tfrt.string, i32) -> !tfrt.string
  %ch = tfrt.new.chain
  %done = "tfrt_test.print_string"(%x, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

//// tfrt_test.read_string_from_file
func.func @main() -> !tfrt.chain {
  %path = tfrt_test.get_string {value = "/etc/hostname"}
  %x = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  %ch = tfrt.new.chain
  %both = tfrt.merge.chains %ch, %x : !tfrt.chain, !tfrt.string
  tfrt.return %both : !tfrt.chain
}

//// tfrt_test.print_debug_info
func.func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %done = "tfrt_test.print_debug_info"(%ch) : (!tfrt.chain) -> !tfrt.chain loc("the first kernel")
  tfrt.return %done : !tfrt.chain
}

//// tfrt_tutorial.create_coordinate tfrt_tutorial.print_coordinate
func.func @main() -> !tfrt.chain {
  %a = tfrt.constant.i32 2
  %b = tfrt.constant.i32 4
  %point = "tfrt_tutorial.create_coordinate"(%a, %b) : (i32, i32) -> !my.coordinate
  %ch = tfrt.new.chain
  %done = "tfrt_tutorial.print_coordinate"(%point, %ch) : (!my.coordinate, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

//// ts.as_fixed_rank_shape ts.print_fixed_rank_shape
func.func @main() -> !tfrt.chain {
  %shape = ts.build_shape SHAPE
  %x = ts.as_fixed_rank_shape.RANK %shape
  %ch = tfrt.new.chain
  %done = ts.print_fixed_rank_shape.RANK %x, %ch
  tfrt.return %done : !tfrt.chain
}

//// ts.build_partial_shape
func.func @main() -> !tfrt.chain {
  %x = ts.build_partial_shape [-1 : i64, 28 : i64]
  %ch = tfrt.new.chain
  %done = ts.print_partial_shape %x, %ch
  tfrt.return %done : !tfrt.chain
}

//// ts.build_shape
func.func @main() -> !tfrt.chain {
  %x = ts.build_shape [2 : i64, 3 : i64]
  %ch = tfrt.new.chain
  %done = ts.print_shape %x, %ch
  tfrt.return %done : !tfrt.chain
}

//// ts.get_dimension
func.func @main() -> i64 {
  %shape = ts.build_shape [2 : i64, 3 : i64]
  %last = tfrt.constant.i32 1
  %x = ts.get_dimension %shape, %last
  tfrt.return %x : i64
}

//// vt.add vt.constant
func.func @main() -> !tfrt.chain {
  %a = "vt.constant"() {value = 13 : i32} : () -> !vt.value
  %b = "vt.constant"() {value = 6 : i32} : () -> !vt.value
  %x = "vt.add"(%a, %b) : (!vt.value, !vt.value) -> !vt.value
  %ch = tfrt.new.chain
  %done = "vt.print"(%x, %ch) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

//// async.execute async.yield async.await
// Two tasks; the second begins when the token of the first is available.
func.func @main() -> i64 {
  %one = arith.constant 1 : i64
  %first, %a = async.execute -> !async.value<i64> {
    %two = arith.addi %one, %one : i64
    async.yield %two : i64
  }
  %second, %b = async.execute [%first] (%a as %x: !async.value<i64>) -> !async.value<i64> {
    %four = arith.muli %x, %x : i64
    async.yield %four : i64
  }
  %four = async.await %b : !async.value<i64>
  return %four : i64
}

//// async.func async.call async.return
// The function begins on the caller's thread, and goes on elsewhere after its await.
async.func @twice(%x: !async.value<i64>) -> !async.value<i64> {
  %n = async.await %x : !async.value<i64>
  %sum = arith.addi %n, %n : i64
  async.return %sum : i64
}
func.func @main() -> i64 {
  %n = arith.constant 13 : i64
  %t, %x = async.execute -> !async.value<i64> {
    async.yield %n : i64
  }
  %y = async.call @twice(%x) : (!async.value<i64>) -> !async.value<i64>
  %sum = async.await %y : !async.value<i64>
  return %sum : i64
}

//// async.create_group async.add_to_group async.await_all async.runtime.add_to_group
func.func @main() -> index {
  %two = arith.constant 2 : index
  %group = async.create_group %two : !async.group
  %a = async.execute {
    async.yield
  }
  %b = async.execute {
    async.yield
  }
  %first = async.add_to_group %a, %group : !async.token
  %rank = async.add_to_group %b, %group : !async.token
  async.await_all %group
  return %rank : index
}

//// async.runtime.add_ref
// A reference on top of those that are counted: without its drop the token would be
// left over.
func.func @main() {
  %t = async.execute {
    async.yield
  }
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

//// async.parallel_for
func.func @main() -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %m = memref.alloc() : memref<4xi64>
  %done = async.parallel_for (%i) = (%zero) to (%four) step (%one) {
    %n = arith.index_cast %i : index to i64
    memref.store %n, %m[%i] : memref<4xi64>
  } -> !async.handle
  async.await %done : !async.handle
  %last = memref.load %m[%one] : memref<4xi64>
  memref.dealloc %m : memref<4xi64>
  return %last : i64
}

//// async.default_runtime async.call_on_runtime async.ret_handle async.sync_await
// As the proposal of 2020 had it.
func.func private @printI64(i64)
func.func @job() {
  %n = arith.constant 13 : i64
  call @printI64(%n) : (i64) -> ()
  return
}
func.func @jobs(%rt: !async.runtime) -> !async.handle {
  %h = async.call %rt : !async.runtime @job() : () -> !async.handle
  async.await %h : !async.handle
  %done = async.ret_handle : !async.handle
  return %done : !async.handle
}
func.func @main() {
  %rt = async.default_runtime : !async.runtime
  %h = call @jobs(%rt) : (!async.runtime) -> !async.handle
  async.sync_await %h : !async.handle
  return
}

//// async.region async.run
func.func private @printI64(i64)
func.func @main() {
  %rt = async.default_runtime : !async.runtime
  %x = arith.constant 13 : i64
  %y = arith.constant 6 : i64
  %first = async.region {
    func.call @printI64(%x) : (i64) -> ()
    async.yield
  } -> !async.token
  %h = async.run %rt [%first] {
    func.call @printI64(%y) : (i64) -> ()
    async.yield
  }
  async.sync_await %h : !async.handle
  return
}

//// async.emplace_handle
func.func private @printI64(i64)
func.func @job(%rt: !async.runtime, %x: i64) -> !async.handle {
  %done = async.ret_handle : !async.handle
  call @printI64(%x) : (i64) -> ()
  async.emplace_handle %done : !async.handle
  return %done : !async.handle
}
func.func @main() {
  %rt = async.default_runtime : !async.runtime
  %x = arith.constant 13 : i64
  %h = call @job(%rt, %x) : (!async.runtime, i64) -> !async.handle
  async.sync_await %h : !async.handle
  return
}

//// async.runtime.create async.runtime.store async.runtime.load async.runtime.set_available async.runtime.await async.runtime.is_error async.runtime.drop_ref
// By hand, what the lowering writes: a value with its two references, the caller's and
// the producer's.
func.func @main() -> i64 {
  %n = arith.constant 13 : i64
  %v = async.runtime.create : !async.value<i64>
  async.runtime.store %n, %v : !async.value<i64>
  async.runtime.set_available %v : !async.value<i64>
  async.runtime.await %v : !async.value<i64>
  %failed = async.runtime.is_error %v : !async.value<i64>
  %x = async.runtime.load %v : !async.value<i64>
  async.runtime.drop_ref %v {count = 1 : i64} : !async.value<i64>
  return %x : i64
}

//// async.runtime.set_error
// The task that awaits the token fails, and so does the function.
func.func @main() {
  %t = async.runtime.create : !async.token
  async.runtime.set_error %t : !async.token
  %u = async.execute [%t] {
    async.yield
  }
  async.await %u : !async.token
  return
}

//// async.runtime.num_worker_threads
func.func @main() -> index {
  %n = async.runtime.num_worker_threads : index
  return %n : index
}

//// async.add_ref async.drop_ref
// The program counts by hand: a token comes with one reference, one more is added,
// and both are dropped.
func.func @main() {
  %t = async.execute {
    async.yield
  }
  async.add_ref %t {count = 1 : i32} : !async.token
  async.await %t : !async.token
  async.drop_ref %t {count = 2 : i32} : !async.token
  return
}
