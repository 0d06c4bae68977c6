func @main() -> i32 {
  %a = "tfrt_test.async_constant.i32"() {value = "one"} : () -> i32
  tfrt.return %a : i32
}
// -----
func @benchmark_without_an_end() {
  tfrt_test.benchmark "endless"() duration_secs = 1 {
    %one = tfrt.constant.i32 1
    tfrt.return %one : i32
  }
  tfrt.return
}
// -----
func @benchmark_of_a_wrong_type() {
  %0 = "tfrt_test.benchmark"() ({
    %one = tfrt.constant.i32 1
    tfrt.return %one : i32
  }) {name = "long", duration_secs = 1 : i64, max_count = 1 : i32, num_warmup_runs = 1 : i32}
    : () -> !tfrt.chain
  tfrt.return
}
// -----
func @body() -> i32 attributes {tfrt.sync} {
  %one = tfrt.constant_s.i32 1
  tfrt.return %one : i32
}
func @sync_benchmark_without_a_duration() {
  tfrt_test.sync_benchmark @body() max_count = 1
  tfrt.return
}
