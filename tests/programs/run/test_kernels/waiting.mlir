// Timers: no thread waits, so the second one is not behind the first.
func.func @values_come_later() -> (i1, !tfrt.chain, i64, f32, f64) {
  %late = tfrt.constant.i32 2
  %early = tfrt.constant.i32 1
  %a = demo.wait.i32 %late {seconds = 0.3}
  %b = "demo.wait"(%early) {seconds = 0.01 : f64} : (i32) -> i32
  %c0 = tfrt.new.chain
  %p = tfrt.print.i32 %a, %c0
  %q = tfrt.print.i32 %b, %c0
  %t = tfrt.constant.i1 1
  %i = tfrt.constant.i64 3
  %f = tfrt.constant.f32 4.5
  %d = tfrt.constant.f64 5.5
  %t1 = demo.wait.i1 %t {seconds = 0.01}
  %i1 = demo.wait.i64 %i {seconds = 0.01}
  %f1 = demo.wait.f32 %f {seconds = 0.01}
  %d1 = demo.wait.f64 %d {seconds = 0.01}
  %done = tfrt.merge.chains %p, %q : !tfrt.chain, !tfrt.chain
  tfrt.return %t1, %done, %i1, %f1, %d1 : i1, !tfrt.chain, i64, f32, f64
}

func.func @chains_and_several_values() -> (i32, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %c0 = demo.wait {seconds = 0.01}
  %c1 = demo.wait %c0 {seconds = 0.01}
  %p = tfrt.print.i32 %one, %c1
  %a, %b = "demo.wait"(%one, %two) {seconds = 0 : i32} : (i32, i32) -> (i32, i32)
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %sum, %p : i32, !tfrt.chain
}

func.func @no_time_is_negative() -> i32 {
  %one = tfrt.constant.i32 1
  %a = demo.wait.i32 %one {seconds = -1.0}
  tfrt.return %a : i32
}

func.func @one_result_for_each_operand() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %a, %b = "demo.wait"(%one) {seconds = 0.01} : (i32) -> (i32, i32)
  tfrt.return %a, %b : i32, i32
}
