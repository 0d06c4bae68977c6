// Blocking work has threads of its own.
func @with_a_chain() -> !tfrt.chain {
  %a = tfrt.constant.i32 1000
  %ch0 = "tfrt_test.blocking.usleep"(%a) : (i32) -> !tfrt.chain
  %ch1 = tfrt.print.i32 %a, %ch0
  tfrt.return %ch1 : !tfrt.chain
}

func @at_the_end() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = tfrt.constant.i32 1
  "tfrt_test.usleep"(%a) : (i32) -> ()
  %ch1 = "tfrt_test.quiesce"(%ch0) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @not_at_all() -> !tfrt.chain {
  %a = tfrt.constant.i32 -3
  %ch0 = "tfrt_test.blocking.usleep"(%a) : (i32) -> !tfrt.chain
  tfrt.return %ch0 : !tfrt.chain
}

// As the first programs write it.
func @without_chains() -> !tfrt.chain {
  %a = tfrt.constant.i32 2
  "tfrt_test.usleep"(%a) : (i32) -> ()
  "tfrt_test.quiesce"() : () -> ()
  %ch0 = tfrt.new.chain
  tfrt.return %ch0 : !tfrt.chain
}
