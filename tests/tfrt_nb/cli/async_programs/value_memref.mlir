func.func @main() {
  %c0 = arith.constant 0 : index
  %t, %v = async.execute -> !async.value<memref<4xi64>> {
    %m = memref.alloc() : memref<4xi64>
    %x = arith.constant 42 : i64
    memref.store %x, %m[%c0] : memref<4xi64>
    async.yield %m : memref<4xi64>
  }
  %u = async.execute (%v as %m: !async.value<memref<4xi64>>) {
    %x = memref.load %m[%c0] : memref<4xi64>
    func.call @printI64(%x) : (i64) -> ()
    memref.dealloc %m : memref<4xi64>
    async.yield
  }
  async.await %u : !async.token
  return
}
func.func private @printI64(i64)
func.func private @printF64(f64)
func.func private @printNewline()
func.func private @printComma()
func.func private @printOpen()
func.func private @printClose()
