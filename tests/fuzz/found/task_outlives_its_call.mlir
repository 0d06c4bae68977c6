func.func@main()->i32{%t=tfrt_dht.create_uninitialized_tensor.f32.1[4096:i64]%x=tfrt.call@start(%t):(!t.tensor)->i32  tfrt.return%x: i32
}
func.func @start(%a: memref<4096xf32>) -> i32 {
  %one = arith.constant 1 : i32
  %t = async.execute {
    %u = async.execute {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 4096 : index
      scf.for %i = %c0 to %n step %c1 {
      }
      async.yield
    }
    async.yield
  }
  return %one : i32
}