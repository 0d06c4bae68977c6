func.func @main() {
  %m = memref.alloc() : memref<3xi64>
  %c5 = arith.constant 5 : index
  %i = arith.addi %c5, %c5 : index
  %t = async.execute {
    %x = memref.load %m[%i] : memref<3xi64>
    async.yield
  }
  async.await %t : !async.token
  return
}
