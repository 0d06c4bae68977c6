// async-log-events
func.func @main(%c: i1) -> i32 {
  %r = scf.if %c -> i32 {
    %x = func.call @work() : () -> i32
    scf.yield %x : i32
  } else {
    %y = arith.constant 2 : i32
    scf.yield %y : i32
  }
  return %r : i32
}
func.func @work() -> i32 {
  %one = arith.constant 1 : i32
  return %one : i32
}
// -----
// async-parallel-for{num-workers=4 min-task-size=2}
func.func @main(%m: memref<8xi64>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  scf.parallel (%i) = (%zero) to (%eight) step (%one) {
    %x = arith.index_cast %i : index to i64
    memref.store %x, %m[%i] : memref<8xi64>
  }
  return
}
// -----
// async-ref-counting
func.func @main() {
  %first = async.execute {
    async.yield
  }
  %second = async.execute [%first] {
    async.yield
  }
  async.await %second : !async.token
  return
}
// -----
// async-ref-counting-optimization
func.func @main(%token: !async.token) {
  async.add_ref %token {count = 1 : i32} : !async.token
  async.await %token : !async.token
  async.drop_ref %token {count = 1 : i32} : !async.token
  return
}
// -----
// async-runtime-policy-based-ref-counting
func.func @main(%value: !async.value<i64>) -> i64 {
  async.runtime.await %value : !async.value<i64>
  %x = async.runtime.load %value : <i64>
  return %x : i64
}
// -----
// canonicalize
func.func @main(%x: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %sum = arith.addi %x, %zero : i64
  return %sum : i64
}
// -----
// cse
func.func @main(%x: i64) -> i64 {
  %a = arith.muli %x, %x : i64
  %b = arith.muli %x, %x : i64
  %sum = arith.addi %a, %b : i64
  return %sum : i64
}
// -----
// inline
func.func private @twice(%x: i64) -> i64 {
  %y = arith.addi %x, %x : i64
  return %y : i64
}
func.func @main(%a: i64) -> i64 {
  %b = call @twice(%a) : (i64) -> i64
  return %b : i64
}
// -----
// dce
func.func @main(%x: i64) -> i64 {
  %unused = arith.muli %x, %x : i64
  return %x : i64
}
// -----
// tfrt-print-stream
func.func @main(%x: i32) -> i32 {
  %two = tfrt.constant.i32 2
  %y = tfrt.add.i32 %x, %two
  tfrt.return %y : i32
}
