// After a cancellation nothing new starts; what is there stays.
func @in_a_loop() -> (i32, i32) {
  %n = tfrt.constant.i32 1000000
  %x = tfrt.constant.i32 0
  %ch = tfrt.new.chain
  %r:2 = tfrt.repeat.i32 %n, %x, %ch : i32, !tfrt.chain {
    %z, %ch1 = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
    tfrt.return %z, %ch1 : i32, !tfrt.chain
  }
  tfrt.return %r#0, %n : i32, i32
}

func @in_a_call_of_many(%ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %z, %ch1 = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %z, %ch1 : i32, !tfrt.chain
}

func @called() -> (i32, i32) {
  %ch = tfrt.new.chain
  %z, %ch1 = tfrt.call @in_a_call_of_many(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %a = tfrt.add.i32 %z, %z
  %ch2 = tfrt.print.i32 %a, %ch1
  tfrt.return %z, %a : i32, i32
}

func @the_next_function_is_not_cancelled() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}
