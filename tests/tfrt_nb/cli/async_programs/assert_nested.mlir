func.func @main() {
  %g2 = arith.constant 2 : index
  %g = async.create_group %g2 : !async.group
  %t0 = async.execute {
    %t1 = async.execute {
      %a = arith.constant 3 : i64
      %b = arith.constant 4 : i64
      %ok = arith.cmpi eq, %a, %b : i64
      scf.if %ok {
      } else {
        cf.assert %ok, "three is not four"
      }
      async.yield
    }
    async.await %t1 : !async.token
    async.yield
  }
  %t2 = async.execute { async.yield }
  %r0 = async.add_to_group %t0, %g : !async.token
  %r1 = async.add_to_group %t2, %g : !async.token
  %one = arith.constant 1 : i64
  call @printI64(%one) : (i64) -> ()
  async.await_all %g
  call @printI64(%one) : (i64) -> ()
  return
}
func.func private @printI64(i64)
