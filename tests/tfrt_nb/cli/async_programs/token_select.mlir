// Tokens as block arguments and loop carried values; scf.if yields one.
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  %t0 = async.execute { async.yield }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> (!async.token) {
    %c2 = arith.constant 2 : index
    %m = arith.remui %i, %c2 : index
    %odd = arith.cmpi eq, %m, %c1 : index
    %x = scf.if %odd -> (!async.token) {
      %u = async.execute [%t] {
        %v = arith.index_cast %i : index to i64
        func.call @printI64(%v) : (i64) -> ()
        async.yield
      }
      scf.yield %u : !async.token
    } else {
      scf.yield %t : !async.token
    }
    scf.yield %x : !async.token
  }
  async.await %r : !async.token
  return
}
func.func private @printI64(i64)
