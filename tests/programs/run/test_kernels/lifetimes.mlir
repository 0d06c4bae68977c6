// RUN: any order
// Values that print when they are made, used, and destroyed.
func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = "vt.constant"() {value = 1 : i32} : () -> !vt.value
  %b = "vt.constant"() {value = 2 : i32} : () -> !vt.value
  %c = "vt.add"(%a, %b) : (!vt.value, !vt.value) -> !vt.value
  %ch1 = "vt.print"(%c, %ch0) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @shared() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = "vt.constant"() {value = 7 : i32} : () -> !vt.value
  %b, %c = "tfrt_test.share_to_two"(%a) : (!vt.value) -> (!vt.value, !vt.value)
  %ch1 = "vt.print"(%b, %ch0) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  %ch2 = "vt.print"(%c, %ch1) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

func @unused() {
  %a = "vt.constant"() {value = 9 : i32} : () -> !vt.value
  tfrt.return
}
