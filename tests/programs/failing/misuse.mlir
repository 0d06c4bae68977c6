// Buffers and values that a program treats wrongly: an error at the operation, and the process goes on.
func.func @main() {
  %m = memref.alloc() : memref<4xi64>
  func.call @free(%m) : (memref<4xi64>) -> ()
  func.call @free(%m) : (memref<4xi64>) -> ()
  return
}
func.func private @free(%m: memref<4xi64>) {
  memref.dealloc %m : memref<4xi64>
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<4xi64>
  %a = async.execute {
    func.call @free(%m) : (memref<4xi64>) -> ()
    async.yield
  }
  %b = async.execute [%a] {
    func.call @free(%m) : (memref<4xi64>) -> ()
    async.yield
  }
  async.await %b : !async.token
  return
}
func.func private @free(%m: memref<4xi64>) {
  memref.dealloc %m : memref<4xi64>
  return
}
// -----
memref.global "private" @g : memref<2xi32> = dense<[3, 4]>
func.func @main() {
  %m = memref.get_global @g : memref<2xi32>
  memref.dealloc %m : memref<2xi32>
  return
}
// -----
func.func @main() {
  %m = memref.alloca() : memref<2xi32>
  memref.dealloc %m : memref<2xi32>
  return
}
// -----
func.func @main() -> i64 {
  %four = arith.constant 4 : index
  %m = memref.alloc() : memref<4xi64>
  %x = memref.load %m[%four] : memref<4xi64>
  memref.dealloc %m : memref<4xi64>
  return %x : i64
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<4xi64>
  memref.dealloc %m : memref<4xi64>
  memref.dealloc %m : memref<4xi64>
  return
}
// -----
func.func @main() {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<4xi64>
  memref.dealloc %m : memref<4xi64>
  %x = memref.load %m[%c0] : memref<4xi64>
  return
}
// -----
func.func @main() {
  %c0 = arith.constant 0 : index
  %c = arith.constant true
  %z = arith.constant 0 : i64
  %m = memref.alloc() : memref<4xi64>
  memref.dealloc %m : memref<4xi64>
  scf.if %c {
  memref.store %z, %m[%c0] : memref<4xi64>
  }
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<4x4xi64, affine_map<(d0, d1) -> (d1, d0)>>
  return
}
// -----
func.func @main() -> i64 {
  %no = arith.constant false
  %t, %v = async.execute -> !async.value<i64> {
    %x = arith.constant 1 : i64
    cf.assert %no, "out of bounds, by hand"
    async.yield %x : i64
  }
  async.runtime.await %v : !async.value<i64>
  %x = async.runtime.load %v : <i64>
  return %x : i64
}
// -----
func.func @main() {
  %n = arith.constant 1 : index
  %g = async.create_group %n : !async.group
  async.runtime.drop_ref %g {count = 1 : i64} : !async.group
  async.await_all %g
  return
}
// -----
func.func @main() {
  %one = arith.constant 1 : index
  %m = memref.alloc(%one) : memref<?xi64>
  %size = memref.dim %m, %one : memref<?xi64>
  return
}
