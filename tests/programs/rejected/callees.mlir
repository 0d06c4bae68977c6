// Calls of what is not there, or takes and gives something else.
func @callee(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @body(%x: i32) -> (i32, i1) {
  %t = tfrt.constant.i1 true
  tfrt.return %x, %t : i32, i1
}
func @f(%c: i1, %x: i32, %y: i64, %ch: !tfrt.chain) {
  %0 = tfrt.call @nobody(%x) : (i32) -> i32
  %1 = tfrt.call @callee(%x, %x) : (i32, i32) -> i32
  %2 = tfrt.call @callee(%y) : (i64) -> i32
  %3 = tfrt.call @callee(%x) : (i32) -> i64
  tfrt.call @callee(%x) : (i32) -> ()
  %5 = tfrt.cond %c @callee @nobody (%x) : (i32) -> (i32)
  %6 = tfrt.cond %c @callee @callee (%y) : (i64) -> (i32)
  %7:2 = tfrt.case %x [@callee, @callee] (%ch, %x) : (i32) -> (i32)
  %8 = tfrt.while %c @callee(%x) parallel_iterations(1) : (i32) -> (i32)
  %9 = tfrt.while %c @body(%y) parallel_iterations(1) : (i64) -> (i64)
  %10 = tfrt.once @nobody(%x) : (i32) -> (i32)
  %11 = tfrt.parallel_call.i32 %x to %x fixed %x @callee(%x) : i32
  %12 = tfrt_test.sync_benchmark @nobody(%x : i32) duration_secs = 1, max_count = 1, num_warmup_runs = 1
  tfrt.return
}
