func.func @fill(%g: !async.group, %m: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    %t = async.execute {
      %one = arith.constant 1 : i64
      memref.store %one, %m[%i] : memref<?xi64>
      async.yield
    }
    %r = async.add_to_group %t, %g : !async.token
  }
  return
}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0 : i64
  %m = memref.alloc(%c3) : memref<?xi64>
  %g = async.create_group %c3 : !async.group
  call @fill(%g, %m) : (!async.group, memref<?xi64>) -> ()
  async.await_all %g
  %s = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %z) -> (i64) {
    %x = memref.load %m[%i] : memref<?xi64>
    %b = arith.addi %a, %x : i64
    scf.yield %b : i64
  }
  call @printI64(%s) : (i64) -> ()
  memref.dealloc %m : memref<?xi64>
  return
}
func.func private @printI64(i64)
