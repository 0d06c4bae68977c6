// The benchmark prints one line per figure; only the count is the same each time.
func @sync(%a: i32) -> i32 attributes {tfrt.sync} {
  %b = "tfrt.add_s.i32"(%a, %a) : (i32, i32) -> i32
  tfrt.return %b : i32
}

func @main() -> !tfrt.chain {
  %a = tfrt.constant.i32 1
  %ch = tfrt_test.benchmark "add"(%a : i32) duration_secs = 10, max_count = 4, num_warmup_runs = 2 {
    %b = tfrt.add.i32 %a, %a
    tfrt.return %b : i32
  }
  tfrt.return %ch : !tfrt.chain
}

func @of_sync_function() -> !tfrt.chain {
  %a = tfrt.constant.i32 1
  %ch = tfrt_test.sync_benchmark @sync(%a : i32) duration_secs = 10, max_count = 3, num_warmup_runs = 1
  tfrt.return %ch : !tfrt.chain
}

func @warms_up_once_if_nobody_says() {
  tfrt_test.benchmark "short"() max_count = 2, duration_secs = 10 {
    %ch = tfrt.new.chain
    %printed = "tfrt_test.print_hello"(%ch) : (!tfrt.chain) -> !tfrt.chain
    tfrt.return %printed : !tfrt.chain
  }
  tfrt.return
}
