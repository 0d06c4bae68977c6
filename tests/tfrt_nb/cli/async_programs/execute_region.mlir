func.func @main() {
  %x = scf.execute_region -> i64 {
    %a = arith.constant 9 : i64
    cf.br ^b
  ^b:
    scf.yield %a : i64
  }
  call @printI64(%x) : (i64) -> ()
  return
}
func.func private @printI64(i64)
