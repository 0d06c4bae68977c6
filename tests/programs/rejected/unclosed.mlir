func @one() {
  %c = tfrt.constant.i1 true
  tfrt.if %c : () -> () {
    tfrt.return
  tfrt.return
