func.func private @endless() {
  cf.br ^again
^again:
  cf.br ^again
}
func.func @main() {
  func.call @endless() : () -> ()
  return
}
