func.func @main() -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %squares = memref.alloc(%n) : memref<?xi64>
  scf.parallel (%i) = (%zero) to (%n) step (%one) {
    %x = arith.index_cast %i : index to i64
    %square = arith.muli %x, %x : i64
    memref.store %square, %squares[%i] : memref<?xi64>
    scf.reduce
  }
  %last = arith.constant 999 : index
  %largest = memref.load %squares[%last] : memref<?xi64>
  memref.dealloc %squares : memref<?xi64>
  return %largest : i64
}
