// No kind of call goes deeper than the budget of calls: each ends in an error.
func @call_calls_itself() -> i32 {
  %one = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %r = tfrt.call @call_calls_itself() : () -> (i32) // expected-error {{calls are nested too deeply}}
  tfrt.return %r : i32
}

func @if_calls_itself() -> i32 {
  %one = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %r = tfrt.if %yes, %one : (i32) -> (i32) { // expected-error {{calls are nested too deeply}}
      %s = tfrt.call @if_calls_itself() : () -> (i32)
      tfrt.return %s : i32
    } else {
      tfrt.return %one : i32
    }
  tfrt.return %r : i32
}

func @repeat_calls_itself() -> i32 {
  %one = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %r = tfrt.repeat.i32 %one, %one : i32 { // expected-error {{calls are nested too deeply}}
      %s = tfrt.call @repeat_calls_itself() : () -> (i32)
      tfrt.return %s : i32
    }
  tfrt.return %r : i32
}

func @loop_body(%x: i32) -> (i32, i1) {
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @loop_body(%x) parallel_iterations(1) : (i32) -> (i32) // expected-error {{calls are nested too deeply}}
  %goes_on = "tfrt.equal.i32"(%r, %r) : (i32, i32) -> (i1)
  tfrt.return %r, %goes_on : i32, i1
}
func @loops() -> i32 {
  %x = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @loop_body(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}

func @do_async_calls_itself() -> i32 {
  %one = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %r = tfrt_test.do.async %one : (i32) -> (i32) { // expected-error {{calls are nested too deeply}}
      %s = tfrt.call @do_async_calls_itself() : () -> (i32)
      tfrt.return %s : i32
    }
  tfrt.return %r : i32
}

func @benchmark_calls_itself() -> !tfrt.chain {
  %c = tfrt_test.benchmark "deep"() duration_secs = 1, max_count = 1000000, num_warmup_runs = 0 {
    %s = tfrt.call @benchmark_calls_itself() : () -> (!tfrt.chain) // expected-error {{calls are nested too deeply}}
    tfrt.return %s : !tfrt.chain
  }
  tfrt.return %c : !tfrt.chain
}

func @parallel_for_calls_itself() -> !tfrt.chain {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %c = tfrt.parallel_for.i32 %zero to %one fixed %one {
    %s = tfrt.call @parallel_for_calls_itself() : () -> (!tfrt.chain) // expected-error {{calls are nested too deeply}}
    tfrt.return %s : !tfrt.chain
  }
  tfrt.return %c : !tfrt.chain
}

func @sync_down(%x: i32) -> i32 attributes {tfrt.sync} {
  %y = tfrt.add_s.i32 %x, %x
  %r = tfrt.call @sync_down(%y) : (i32) -> i32 // expected-error {{calls are nested too deeply}}
  tfrt.return %r : i32
}
func @sync_calls_itself() -> i32 attributes {tfrt.sync} {
  %x = tfrt.constant_s.i32 1
  %r = tfrt.call @sync_down(%x) : (i32) -> i32
  tfrt.return %r : i32
}
