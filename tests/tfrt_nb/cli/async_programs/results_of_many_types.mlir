// A task that yields an index, a buffer and a truth value to another one.
func.func private @printI64(i64)
func.func private @printNewline()
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant 5 : i64
  %t, %v:3 = async.execute -> (!async.value<index>, !async.value<memref<3xi64>>, !async.value<i1>) {
    %m = memref.alloc() : memref<3xi64>
    scf.for %i = %c0 to %c3 step %c1 {
      %x = arith.index_cast %i : index to i64
      %y = arith.muli %x, %n : i64
      memref.store %y, %m[%i] : memref<3xi64>
    }
    %true = arith.constant true
    async.yield %c3, %m, %true : index, memref<3xi64>, i1
  }
  %t2, %s = async.execute [%t] (%v#0 as %k: !async.value<index>, %v#1 as %m: !async.value<memref<3xi64>>, %v#2 as %b: !async.value<i1>) -> !async.value<i64> {
    %z = arith.constant 0 : i64
    %r = scf.for %i = %c0 to %k step %c1 iter_args(%a = %z) -> (i64) {
      %x = memref.load %m[%i] : memref<3xi64>
      %q = arith.addi %a, %x : i64
      scf.yield %q : i64
    }
    %r2 = scf.if %b -> i64 {
      %q = arith.muli %r, %n : i64
      scf.yield %q : i64
    } else {
      scf.yield %z : i64
    }
    memref.dealloc %m : memref<3xi64>
    async.yield %r2 : i64
  }
  %o = async.await %s : !async.value<i64>
  func.call @printI64(%o) : (i64) -> ()
  func.call @printNewline() : () -> ()
  return
}
