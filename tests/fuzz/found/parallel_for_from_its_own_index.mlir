memref.global "private" @cells : memref<10xi64> = dense<0>
func @main() {
  %c0 = constant 0 : index
  %c1 = constant 1 : index
  %c10 = constant 10 : index
  %m = memref.get_global @cells : memref<10xi64>
  %done = async.parallel_for (%i) = (%c0) to (%c10) step (%i) {
    %v = index_cast %i : index to i64
    memref.store %v, %m[%i] : memref<10xi64>
  } -> !async.handle
  async.await %done : !async.handle
  %z = constant 0 : i64
  %s = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %z) -> (i64) {
    %v = memref.load %m[%i] : memref<10xi64>
    %b = addi %a, %v : i64
    scf.yield %b : i64
  }
  call @show(%s) : (i64) -> ()
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
