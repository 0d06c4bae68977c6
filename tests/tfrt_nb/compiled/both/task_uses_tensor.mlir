// A task that nobody awaits may use a tensor after the call that started it, and after the run.
// call: main
// result: i32 available 1
func.func @main() -> i32 {
  %c0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [4096 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %c0 1.0 : f32
  %x = tfrt.call @start(%t) : (!t.tensor) -> i32
  tfrt.return %x : i32
}
func.func @start(%a: memref<4096xf32>) -> i32 {
  %one = arith.constant 1 : i32
  %t = async.execute {
    %u = async.execute {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 4096 : index
      scf.for %i = %c0 to %n step %c1 {
        %x = memref.load %a[%i] : memref<4096xf32>
        %y = arith.addf %x, %x : f32
        memref.store %y, %a[%i] : memref<4096xf32>
      }
      async.yield
    }
    async.await %u : !async.token
    async.yield
  }
  return %one : i32
}
