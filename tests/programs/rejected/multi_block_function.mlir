func @one() {
  tfrt.return
^bb1:
  tfrt.return
}
