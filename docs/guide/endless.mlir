func.func @main() {
  scf.execute_region {
    cf.br ^again
  ^again:
    cf.br ^again
  }
  return
}
