// The names and forms since 2022.
func.func private @native_add(i32, i32) -> i32 attributes {tfrt.native}

func.func @sync(%a: i32) -> i32 attributes {tfrt.sync} {
  %b = "tfrt.add_s.i32"(%a, %a) : (i32, i32) -> i32
  tfrt.return %b : i32
}

func.func @tensors() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch1 = "tfrt_dht.fill_tensor_with_constant.f32"(%t, %ch0) {value = 1.5 : f32} : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt_dht.print_tensor %t, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

func.func @branch(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  tfrt.return %ch, %x : !tfrt.chain, i32
}

func.func @case() -> i32 {
  %ch = tfrt.new.chain
  %i = tfrt.constant.i32 0
  %r:2 = tfrt.case %i [@branch] (%ch, %i) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  tfrt.return %r#1 : i32
}

func.func @native() -> i32 {
  %a = tfrt.constant.i32 20
  %b = "tfrt_test.async_constant.i32"() {value = 22 : i32} : () -> i32
  %c = tfrt.call @native_add(%a, %b) : (i32, i32) -> i32
  tfrt.return %c : i32
}
