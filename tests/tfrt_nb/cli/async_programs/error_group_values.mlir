func.func @main() {
  %n = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t, %v = async.execute -> !async.value<i64> {
    %g = async.create_group %n : !async.group
    scf.for %i = %c0 to %n step %c1 {
      %ti, %vi = async.execute -> !async.value<index> {
        %ok = arith.cmpi ne, %i, %c1 : index
        cf.assert %ok, "one is refused"
        async.yield %i : index
      }
      %k = async.add_to_group %vi, %g : !async.value<index>
    }
    async.await_all %g
    %x = arith.constant 1 : i64
    async.yield %x : i64
  }
  %x = async.await %v : !async.value<i64>
  call @printI64(%x) : (i64) -> ()
  return
}
func.func private @printI64(i64)
