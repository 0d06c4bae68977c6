// parallel-for: async-dispatch=false num-workers=2 min-task-size=2
func.func @main() {
  %m = memref.alloca() : memref<1xi64>
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i64
  memref.store %z, %m[%c0] : memref<1xi64>
  %lo = arith.constant 3 : index
  %hi = arith.constant 20 : index
  %st = arith.constant 4 : index
  %g = memref.alloc() : memref<32xi64>
  scf.parallel (%i) = (%lo) to (%hi) step (%st) {
    %x = arith.index_cast %i : index to i64
    memref.store %x, %g[%i] : memref<32xi64>
  }
  %s = scf.for %i = %lo to %hi step %st iter_args(%a = %z) -> i64 {
    %x = memref.load %g[%i] : memref<32xi64>
    %y = arith.addi %a, %x : i64
    scf.yield %y : i64
  }
  call @printI64(%s) : (i64) -> ()
  memref.dealloc %g : memref<32xi64>
  return
}
func.func private @printI64(i64)
