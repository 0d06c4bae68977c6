// What no verifier sees, because quotes allow anything, and the loader refuses.
func @more_results(%a: i32) -> i32 {
  %0:2 = "tfrt_test.make_indirect"(%a) : (i32) -> (i32, i32)
  tfrt.return %0#0 : i32
}

// -----

func @cannot_be_nonstrict(%a: i32) -> i32 {
  %0 = "tfrt.minus.i32"(%a, %a) {bef.nonstrict} : (i32, i32) -> i32
  tfrt.return %0 : i32
}

// -----

func @cannot_be_nonstrict(%ch: !tfrt.chain) -> !tfrt.chain {
  %0 = "tfrt_test.print_hello"(%ch) {bef.nonstrict} : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %0 : !tfrt.chain
}

// -----

func @cannot_be_nonstrict(%n: i32, %m: i32) -> !tfrt.chain {
  %0 = tfrt.parallel_for.i32 %n to %m fixed %n attributes {bef.nonstrict} {
    tfrt.return
  }
  tfrt.return %0 : !tfrt.chain
}

// -----

func @no_functions(%a: i32) -> i32 {
  %0 = "tfrt_test.invoke_sync_function.i32_i32.i32"(%a, %a) : (i32, i32) -> i32
  tfrt.return %0 : i32
}

// -----

func @asynchronous(%a: i32, %b: i32) -> i32 {
  %0 = tfrt.add.i32 %a, %b
  tfrt.return %0 : i32
}
func @main(%a: i32) -> i32 {
  %0 = "tfrt_test.invoke_sync_function.i32_i32.i32"(%a, %a) {fn = @asynchronous} : (i32, i32) -> i32
  tfrt.return %0 : i32
}

// -----

func @sync(%a: i32) -> i32 attributes {tfrt.sync} {
  %0 = "tfrt.add_s.i32"(%a, %a) : (i32, i32) -> i32
  tfrt.return %0 : i32
}
func @main(%a: i32) -> i32 {
  %0 = "tfrt_test.invoke_sync_function.i32_i32.i32"(%a, %a) {fn = @sync} : (i32, i32) -> i32
  tfrt.return %0 : i32
}

// -----

func @sync(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %0 = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  tfrt.return %0 : i32
}
func @main(%a: i32) -> i32 {
  %0:2 = "tfrt_test.invoke_sync_function.i32_i32.i32_i32"(%a, %a) {fn = @sync} : (i32, i32) -> (i32, i32)
  tfrt.return %0#0 : i32
}

// -----

func @two(%a: i32, %b: i32) -> (i32, i32) {
  tfrt.return %a, %b : i32, i32
}
func @main(%n: i32) -> !tfrt.chain {
  %0 = tfrt.parallel_call.i32 %n to %n fixed %n @two()
  tfrt.return %0 : !tfrt.chain
}

// -----

func @no_attribute() -> i32 {
  %0 = "tfrt_test.async_constant.i32"() : () -> i32
  tfrt.return %0 : i32
}

// -----

func @waits_for_itself(%a: i32) -> i32 {
  %0 = "my.region"() ({
    "my.other"() : () -> ()
    tfrt.return
  }) : () -> i32
  tfrt.return %0 : i32
}

// -----

func @too_few(%s: !tfrt.string) -> !tfrt.string {
  %0 = "tfrt_test.append_string"(%s) : (!tfrt.string) -> !tfrt.string
  tfrt.return %0 : !tfrt.string
}

// -----

func @too_few_before_the_values(%t: !t.tensor) -> !tfrt.chain {
  %0 = "tfrt_dht.set_tensor_with_values.i32"(%t) : (!t.tensor) -> !tfrt.chain
  tfrt.return %0 : !tfrt.chain
}

// -----

func @fewer_results(%a: i32) -> i32 {
  %0 = "tfrt_test.make_indirect"(%a, %a) : (i32, i32) -> i32
  tfrt.return %0 : i32
}

// -----

func @a_function_too_many(%us: i32) -> !tfrt.chain {
  %0 = "tfrt_test.blocking.usleep"(%us) {callee = @a_function_too_many} : (i32) -> !tfrt.chain
  tfrt.return %0 : !tfrt.chain
}
