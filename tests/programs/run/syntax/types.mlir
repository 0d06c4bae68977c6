// Types that a program may name; a result of an unknown one is printed by its name.
func @main() -> (!tfrt.anything, !tfrt_test.resource, !t.tensor, !ts.shape, !my.own, tensor<2xf32>, complex<f64>, vector<4xi8>, index, none, (i32) -> i32, tuple<i1, i2>) {
  %a = tfrt.constant.i32 0
  %0:12 = "tfrt_test.multi_arg_result"(%a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a) : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> (!tfrt.anything, !tfrt_test.resource, !t.tensor, !ts.shape, !my.own, tensor<2xf32>, complex<f64>, vector<4xi8>, index, none, (i32) -> i32, tuple<i1, i2>)
  tfrt.return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10, %0#11 : !tfrt.anything, !tfrt_test.resource, !t.tensor, !ts.shape, !my.own, tensor<2xf32>, complex<f64>, vector<4xi8>, index, none, (i32) -> i32, tuple<i1, i2>
}
