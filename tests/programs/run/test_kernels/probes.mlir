// Kernels that show how values are handed around.
func @numbers() -> (i32, i32, i32, i64, i64, i64, i32, i32) {
  %a = tfrt.constant.i32 10
  %b = tfrt.constant.i64 -10
  %0:3 = tfrt_test.count3.i32 %a
  %1, %2, %3 = "tfrt_test.count3.i64"(%b) : (i64) -> (i64, i64, i64)
  %4 = "tfrt_test.sum"(%0#0, %0#1, %0#2, %a) : (i32, i32, i32, i32) -> i32
  %5 = "tfrt_test.sum"() : () -> i32
  tfrt.return %0#0, %0#1, %0#2, %1, %2, %3, %4, %5 : i32, i32, i32, i64, i64, i64, i32, i32
}

func @handed_through() -> (i32, f32, i32, i64, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.f32 2.0
  %0:2 = "tfrt_test.identity"(%ch0, %a, %b) : (!tfrt.chain, i32, f32) -> (i32, f32)
  %c = tfrt.constant.i64 3
  %1:2 = "tfrt_test.multi_arg_result"(%a, %c) : (i32, i64) -> (i32, i64)
  %t = tfrt.constant.i1 true
  %ch1 = "tfrt_test.print_bool"(%ch0, %t) : (!tfrt.chain, i1) -> !tfrt.chain
  %f = tfrt.constant.i1 false
  %ch2 = "tfrt_test.print_bool"(%ch1, %f) : (!tfrt.chain, i1) -> !tfrt.chain
  tfrt.return %0#0, %0#1, %1#0, %1#1, %ch2 : i32, f32, i32, i64, !tfrt.chain
}

func @uniqueness() -> (i1, i1, i1, i1) {
  %one = tfrt.constant.i32 1
  %a = tfrt.add.i32 %one, %one
  %0 = "tfrt_test.get_uniqueness"(%a) : (i32) -> i1
  %b = tfrt.add.i32 %one, %one
  %1, %2 = "tfrt_test.get_uniqueness"(%b, %b) : (i32, i32) -> (i1, i1)
  %c = tfrt.add.i32 %one, %one
  %d = "tfrt_test.make_indirect"(%c) : (i32) -> i32
  %3 = "tfrt_test.get_uniqueness"(%d) : (i32) -> i1
  tfrt.return %0, %1, %2, %3 : i1, i1, i1, i1
}

func @device() -> (!tfrt.device, !tfrt.device) {
  %ch0 = tfrt.new.chain
  %a = tfrt.get_device %ch0 {device_name = "CPU:0"}
  // expected-error @+1 {{cannot find device TPU:7}}
  %b = "tfrt.get_device"(%ch0) {device_name = "TPU:7"} : (!tfrt.chain) -> !tfrt.device
  tfrt.return %a, %b : !tfrt.device, !tfrt.device
}

func @shared() -> (!tfrt.chain) {
  %ch0 = tfrt.new.chain
  %s, %ch1 = "tfrt_test.use_sample_shared_context"(%ch0) : (!tfrt.chain) -> (!tfrt.string, !tfrt.chain)
  %ch2 = "tfrt_test.print_string"(%s, %ch1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %u, %ch3 = "tfrt_test.use_sample_shared_context"(%ch2) : (!tfrt.chain) -> (!tfrt.string, !tfrt.chain)
  %ch4 = "tfrt_test.print_string"(%u, %ch3) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

func @resources() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %r, %ch1 = "tfrt_test.allocate_resource"(%ch0) : (!tfrt.chain) -> (!tfrt_test.resource, !tfrt.chain)
  %ch2 = "tfrt_test.deallocate_resource"(%r, %ch1) : (!tfrt_test.resource, !tfrt.chain) -> !tfrt.chain
  %ch3 = "tfrt_test.print_hello"(%ch2) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

func @request() -> (i32) {
  %a = "tfrt_test.get_request_context_data.i32"() : () -> i32 // expected-error {{the request has no data of type i32}}
  tfrt.return %a : i32
}

func @cost() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt_test.test_cost %a {id = 5 : i64, _tfrt_cost = 7 : i64} : i32
  %c = "tfrt_test.test_cost"(%b) {id = 6 : i64} : (i32) -> i32
  tfrt.return %c : i32
}

func @thread() -> i32 {
  %ch0 = tfrt.new.chain
  %a = "tfrt_test.get_thread_id"(%ch0) : (!tfrt.chain) -> i32
  tfrt.return %a : i32
}

func @coordinates() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %x = tfrt.constant.i32 2
  %y = tfrt.constant.i32 -4
  %p = "tfrt_tutorial.create_coordinate"(%x, %y) : (i32, i32) -> !my.coordinate
  %ch1 = "tfrt_tutorial.print_coordinate"(%p, %ch0) : (!my.coordinate, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @cost_of_anything() -> i32 {
  %ch0 = tfrt.new.chain
  %0 = "tfrt_test.test_cost"(%ch0) {_tfrt_cost = 1 : i64, id = 7 : i64} : (!tfrt.chain) -> i32
  tfrt.return %0 : i32
}

// The first programs give it a chain and leave out the types: the result is a chain, too.
func @cost_of_chains() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_test.test_cost %ch0 {id = 8 : i64, _tfrt_cost = 1 : i64}
  %ch2 = "tfrt_test.test_cost"(%ch1) {id = 9 : i64, _tfrt_cost = 1 : i64} : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
