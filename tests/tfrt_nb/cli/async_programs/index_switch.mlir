func.func @main() {
  %c = arith.constant 2 : index
  %r = scf.index_switch %c -> i64
  case 1 {
    %x = arith.constant 10 : i64
    scf.yield %x : i64
  }
  case 2 {
    %t, %v = async.execute -> !async.value<i64> {
      %x = arith.constant 20 : i64
      async.yield %x : i64
    }
    %x = async.await %v : !async.value<i64>
    scf.yield %x : i64
  }
  default {
    %x = arith.constant 30 : i64
    scf.yield %x : i64
  }
  call @printI64(%r) : (i64) -> ()
  return
}
func.func private @printI64(i64)
