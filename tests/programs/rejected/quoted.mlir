// Control flow in quotes, which can be wrong in more ways.
func @f(%c: i1, %x: i32, %y: i64) {
  "tfrt.repeat.i32"(%x, %x) ({
  ^bb0(%z: i32):
    tfrt.return %z : i32
  }) : (i32, i32) -> ()
  %1 = "tfrt.repeat.i32"(%x, %x) ({
  ^bb0(%z: i64):
    tfrt.return %x : i32
  }) : (i32, i32) -> i32
  "tfrt.if"(%c) ({
    tfrt.return
  }) : (i1) -> ()
  "tfrt.if"(%x) ({
    tfrt.return
  }, {
    tfrt.return
  }) : (i32) -> ()
  "tfrt.if"() ({
    tfrt.return
  }, {
    tfrt.return
  }) : () -> ()
  "tfrt.if"(%c) ({
  }, {
    tfrt.return
  }) : (i1) -> ()
  "tfrt.parallel_for.i32"(%x, %x, %x) ({
  ^bb0(%from: i32, %to: i32):
    tfrt.return
  }) : (i32, i32, i32) -> ()
  %2 = "tfrt_test.benchmark"(%x) ({
  ^bb0(%z: i32):
    tfrt.return %z : i32
  }) {duration_secs = 1 : i32, max_count = 1 : i32, num_warmup_runs = 1 : i32} : (i32) -> !tfrt.chain
  %3 = "tfrt.call"(%x) : (i32) -> i32
  %4 = "tfrt.call"(%x) {callee = "f"} : (i32) -> i32
  %5 = "tfrt.cond"(%c, %x) {a_true_fn = @f} : (i1, i32) -> i32
  tfrt.return
}
