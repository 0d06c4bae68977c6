func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %z = arith.constant 0 : i64
  %m = memref.alloc() : memref<5xi64>
  %g = async.create_group %n : !async.group
  scf.for %i = %c0 to %n step %c1 {
    %t, %v = async.execute -> !async.value<i64> {
      %x = arith.index_cast %i : index to i64
      memref.store %x, %m[%i] : memref<5xi64>
      async.yield %x : i64
    }
    %k = async.add_to_group %v, %g : !async.value<i64>
  }
  async.await_all %g
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> i64 {
    %x = memref.load %m[%i] : memref<5xi64>
    %y = arith.addi %acc, %x : i64
    scf.yield %y : i64
  }
  func.call @printI64(%s) : (i64) -> ()
  func.call @printNewline() : () -> ()
  memref.dealloc %m : memref<5xi64>
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
