// parallel-for: num-workers=2 min-task-size=1
func.func @main() {
  %m = memref.alloc() : memref<64xi64>
  %z = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %lo = arith.constant -3 : index
  %hi = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) { memref.store %z, %m[%i] : memref<64xi64> }
  scf.parallel (%i, %j, %k) = (%lo, %c0, %c1) to (%hi, %c3, %hi) step (%c2, %c1, %c3) {
    %i3 = arith.addi %i, %c3 : index
    %a = arith.muli %i3, %c3 : index
    %a2 = arith.addi %a, %j : index
    %x = arith.muli %i, %k : index
    %y = arith.index_cast %x : index to i64
    %p = memref.load %m[%a2] : memref<64xi64>
    memref.store %y, %m[%a2] : memref<64xi64>
    scf.reduce
  }
  %s = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %z) -> (i64) {
    %x = memref.load %m[%i] : memref<64xi64>
    %x2 = arith.muli %x, %x : i64
    %y = arith.addi %acc, %x2 : i64
    scf.yield %y : i64
  }
  call @printI64(%s) : (i64) -> ()
  call @printNewline() : () -> ()
  memref.dealloc %m : memref<64xi64>
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
