func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %s = tfrt_test.get_string {value = "said"}
  %ch1 = "tfrt_test.logging"(%s, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @leak() -> () {
  "tfrt_test.memory_leak_one_int32"() : () -> ()
  tfrt.return
}
