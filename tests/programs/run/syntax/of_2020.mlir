// The names and forms of April 2020.
func @sum() -> i32 {
  %a = hex.constant.i32 40
  %b = hex.constant.i32 2
  %c = hex.add.i32 %a, %b
  hex.return %c : i32
}

func @swap(%x: i32, %y: i32) -> (i32, i32) {
  hex.return %y, %x : i32, i32
}

func @control_flow() -> (i32, i32, i32, !hex.chain) {
  %ch0 = hex.new.chain
  %t = hex.constant.bool true
  %a = hex.constant.i32 1
  %b = "hex.constant.i32"() {value = 2 : i32} : () -> i32
  %r:2 = hex.call @swap(%a, %b) : (i32, i32) -> (i32, i32)
  %s = hex.if %t, %a, %b : (i32, i32) -> (i32) {
    hex.return %a : i32
  } else {
    hex.return %b : i32
  }
  %n = hex.constant.i32 3
  %u:2 = hex.repeat.i32 %n, %ch0, %b : !hex.chain, i32 {
    %ch1 = hex.print.i32 %b, %ch0
    %d = hex.add.i32 %b, %b
    hex.return %ch1, %d : !hex.chain, i32
  }
  hex.return %r#0, %s, %u#1, %u#0 : i32, i32, i32, !hex.chain
}

func @test_kernels() -> (i32, !hex.chain) {
  %ch0 = hex.new.chain
  %a = "hex.async_constant.i32"() {value = 5 : i32} : () -> i32
  %b = "hex.async_add.i32"(%a, %a) : (i32, i32) -> i32
  %ch1 = "hex.print_hello"(%ch0) : (!hex.chain) -> !hex.chain
  %s = "hex.get_string"() {value = "string of 2020"} : () -> !hex.string
  %ch2 = "hex.print_string"(%s, %ch1) : (!hex.string, !hex.chain) -> !hex.chain
  hex.return %b, %ch2 : i32, !hex.chain
}

func @tensors() -> !hex.chain {
  %ch0 = hex.new.chain
  %t = dht.create_uninitialized_tensor.i32.2 [3 : i64, 2 : i64]
  %ch1 = dht.fill_tensor_with_constant.i32 %t, %ch0 0 : i32
  %ch2 = dht.print_tensor %t, %ch1
  %ch3 = "dht.print_tensor"(%t, %ch2) : (!dht.dense_host_tensor.i32.2, !hex.chain) -> !hex.chain
  %s = "sht.create_tensor"() {shape = [1 : i64], values = ["text"]} : () -> !t.tensor
  %ch4 = dht.print_tensor %s, %ch3
  hex.return %ch4 : !hex.chain
}

func @nonstrict() -> i32 {
  %a = hex.constant.i32 1
  %x = "hex.fail"() : () -> i32 // expected-error {{something bad happened}}
  %r = hex.call @first(%a, %x) : (i32, i32) -> i32
  hex.return %r : i32
}

func @first(%x: i32, %y: i32) -> i32 {
  hex.return %x : i32
}

func @spelled_nonstrict() -> i32 {
  %a = tfrt.constant.i32 1
  %x = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %r = "tfrt.call"(%a, %x) {bef.nonstrict, callee = @first} : (i32, i32) -> i32
  tfrt.return %r : i32
}

func @merged_chains_without_types() -> !hex.chain {
  %ch0 = hex.new.chain
  %one = hex.constant.i32 1
  %two, %three, %four = "hex.count3.i32"(%one) : (i32) -> (i32, i32, i32)
  %true = hex.constant.bool true
  %lane:2 = hex.if %true, %ch0, %two : (!hex.chain, i32) -> (i32, !hex.chain) {
    %ch1 = hex.print.i32 %two, %ch0
    hex.return %two, %ch1 : i32, !hex.chain
  } else {
    hex.return %two, %ch0 : i32, !hex.chain
  }
  %all = hex.merge.chains %ch0, %lane#1
  %ch2 = hex.print.i32 %three, %all
  hex.return %ch2 : !hex.chain
}
