func.func @main() {
  cf.br ^a
^a:
  cf.br ^b
^b:
  cf.br ^a
}
