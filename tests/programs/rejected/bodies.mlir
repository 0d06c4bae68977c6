// Regions that return something else than their operation.
func @f(%c: i1, %n: i32, %x: i32, %ch: !tfrt.chain) {
  %0 = tfrt.if %c, %x : (i32) -> (i32) {
    tfrt.return
  } else {
    tfrt.return %x : i32
  }
  %1 = tfrt.repeat.i32 %n, %x : i32 {
    %y = tfrt.new.chain
    tfrt.return %y : !tfrt.chain
  }
  %2 = tfrt_test.do.async %x : (i32) -> (i64) {
    tfrt.return %x : i32
  }
  %3 = tfrt.parallel_for.i32 %n to %x fixed %n {
    tfrt.return %n : i32
  }
  %4 = tfrt_test.benchmark "b"(%x : i32) duration_secs = 1, max_count = 1, num_warmup_runs = 1 {
    tfrt.return
  }
  tfrt.return
}
