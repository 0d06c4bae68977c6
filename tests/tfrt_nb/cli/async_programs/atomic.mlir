// parallel-for: num-workers=4 min-task-size=1
func.func @main() {
  %m = memref.alloc() : memref<1xi64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100 : index
  %z = arith.constant 0 : i64
  %o = arith.constant 1 : i64
  memref.store %z, %m[%c0] : memref<1xi64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %old = memref.atomic_rmw addi %o, %m[%c0] : (i64, memref<1xi64>) -> i64
    scf.reduce
  }
  %r = memref.load %m[%c0] : memref<1xi64>
  call @printI64(%r) : (i64) -> ()
  memref.dealloc %m : memref<1xi64>
  return
}
func.func private @printI64(i64)
