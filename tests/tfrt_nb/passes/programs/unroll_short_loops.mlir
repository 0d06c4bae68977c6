// pipeline: builtin.module(async-unroll-short-loops,convert-scf-to-cf)
// The inner loop has three rounds for each element; the one that calls a function and the long one stay.
func.func private @work(i64)
func.func @short(%in: memref<?xf64>, %out: memref<?xf64>, %size: index, %factor: f64) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  scf.for %i = %zero to %size step %one {
    %x = memref.load %in[%i] : memref<?xf64>
    %y = scf.for %j = %zero to %three step %one iter_args(%v = %x) -> (f64) {
      %w = arith.mulf %v, %factor : f64
      scf.yield %w : f64
    }
    memref.store %y, %out[%i] : memref<?xf64>
  }
  return
}
func.func @others(%out: memref<?xi64>, %size: index, %x: i64) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 600 : index
  scf.for %i = %zero to %size step %one {
    %y = scf.for %j = %zero to %many step %one iter_args(%v = %x) -> (i64) {
      %w = arith.muli %v, %v : i64
      scf.yield %w : i64
    }
    memref.store %y, %out[%i] : memref<?xi64>
  }
  scf.for %i = %zero to %size step %one {
    %y = scf.for %j = %zero to %one step %one iter_args(%v = %x) -> (i64) {
      scf.yield %v : i64
    }
    func.call @work(%y) : (i64) -> ()
  }
  return
}
