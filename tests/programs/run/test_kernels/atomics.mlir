func @main() -> (i32, i32, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %a = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %seven = tfrt.constant.i32 7
  %ch1 = "tfrt_test.atomic.inc.i32"(%a, %ch0) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %x, %ch2 = "tfrt_test.atomic.get.i32"(%a, %ch1) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %ch3 = "tfrt_test.atomic.add.i32"(%a, %seven, %ch2) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  %y, %ch4 = "tfrt_test.atomic.get.i32"(%a, %ch3) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %x, %y, %ch4 : i32, i32, !tfrt.chain
}
