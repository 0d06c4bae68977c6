// pipeline: builtin.module(async-parallel-for)
func.func @a(%lb: index, %n: index, %st: index, %m: memref<?xi64>, %v: i64) {
  scf.parallel (%i) = (%lb) to (%n) step (%st) {
    memref.store %v, %m[%i] : memref<?xi64>
  }
  return
}
