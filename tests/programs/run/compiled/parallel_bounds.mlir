// parallel-for: num-workers=4 min-task-size=1
// The bounds are not known where the loop is compiled; the wrong way around they are those of no iteration.
func.func @count(%from: index, %to: index, %step: index) -> i64 {
  %cell = memref.alloc() : memref<1xi64>
  %zero = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  memref.store %none, %cell[%zero] : memref<1xi64>
  scf.parallel (%i, %j) = (%from, %from) to (%to, %to) step (%step, %step) {
    %x = memref.atomic_rmw addi %one, %cell[%zero] : (i64, memref<1xi64>) -> i64
    scf.reduce
  }
  %x = memref.load %cell[%zero] : memref<1xi64>
  return %x : i64
}
func.func @main() -> (i64, i64) {
  %a = arith.constant -5 : index
  %b = arith.constant 4 : index
  %two = arith.constant 2 : index
  %forwards = call @count(%a, %b, %two) : (index, index, index) -> i64
  %backwards = call @count(%b, %a, %two) : (index, index, index) -> i64
  return %forwards, %backwards : i64, i64
}
