// pipeline: builtin.module(canonicalize)
// Buffers that nobody reads, known sizes, casts; groups that nobody joins.
func.func private @use(index)
func.func @buffers(%n: index, %x: i64) -> (memref<?xi64>, i64) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %dead = memref.alloc(%n) : memref<?xi64>
  memref.store %x, %dead[%zero] : memref<?xi64>
  memref.dealloc %dead : memref<?xi64>
  %known = memref.alloc(%four) : memref<?xi64>
  memref.store %x, %known[%zero] : memref<?xi64>
  %size = memref.dim %known, %zero : memref<?xi64>
  func.call @use(%size) : (index) -> ()
  %open = memref.alloc(%n) : memref<?xi64>
  %other = memref.dim %open, %zero : memref<?xi64>
  func.call @use(%other) : (index) -> ()
  memref.copy %known, %open : memref<?xi64> to memref<?xi64>
  %v = memref.load %known[%zero] : memref<?xi64>
  %unused = memref.load %open[%zero] : memref<?xi64>
  return %open, %v : memref<?xi64>, i64
}
func.func @groups(%n: index) {
  %g = async.create_group %n : !async.group
  async.await_all %g
  %h = async.create_group %n : !async.group
  %two = arith.constant 2 : index
  %t = async.execute {
    %three = arith.constant 3 : index
    %i = arith.addi %two, %three : index
    func.call @use(%i) : (index) -> ()
    async.yield
  }
  %r = async.add_to_group %t, %h : !async.token
  async.await_all %h
  return
}
