func.func @pick(%k: i64) -> !async.token {
  %t1 = async.execute { async.yield }
  %c1 = arith.constant 1 : i64
  %is = arith.cmpi eq, %k, %c1 : i64
  cf.cond_br %is, ^end(%t1 : !async.token), ^other
^other:
  %t2 = async.execute [%t1] {
    %two = arith.constant 2 : i64
    func.call @printI64(%two) : (i64) -> ()
    async.yield
  }
  cf.br ^end(%t2 : !async.token)
^end(%r: !async.token):
  return %r : !async.token
}
func.func @main() {
  %a = arith.constant 1 : i64
  %b = arith.constant 5 : i64
  %x = call @pick(%a) : (i64) -> !async.token
  %y = call @pick(%b) : (i64) -> !async.token
  async.await %x : !async.token
  async.await %y : !async.token
  return
}
func.func private @printI64(i64)
