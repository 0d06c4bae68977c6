// A tensor is a buffer in compiled code, and a buffer a tensor: given on, made anew, or a constant.
// call: main
// output: DenseHostTensor dtype = f32, shape = [2, 2], values = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]
// output: DenseHostTensor dtype = f32, shape = [2, 2], values = [2.000000e+00, 4.000000e+00, 6.000000e+00, 8.000000e+00]
// output: DenseHostTensor dtype = i64, shape = [3], values = [7, 8, 9]
// output: DenseHostTensor dtype = f32, shape = [2, 2], values = [2.000000e+00, 4.000000e+00, 6.000000e+00, 8.000000e+00]
// output: DenseHostTensor dtype = f32, shape = [2, 2], values = [4.000000e+00, 8.000000e+00, 1.200000e+01, 1.600000e+01]
// result: f32 available 20.0
// result: !tfrt.chain available CHAIN
func.func @main() -> (f32, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %c0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %c2, %same, %double = tfrt.call @double(%t, %c1) : (!t.tensor, !tfrt.chain) -> (!tfrt.chain, !t.tensor, !t.tensor)
  %c3 = tfrt_dht.print_tensor %same, %c2
  %c4 = tfrt_dht.print_tensor %double, %c3
  %sum = tfrt.call @sum(%double) : (!t.tensor) -> f32
  %k = tfrt.call @constant() : () -> !t.tensor
  %c5 = tfrt_dht.print_tensor %k, %c4
  %given, %twice = tfrt.call @double_later(%double) : (!t.tensor) -> (!t.tensor, !t.tensor)
  %c6 = tfrt_dht.print_tensor %given, %c5
  %c7 = tfrt_dht.print_tensor %twice, %c6
  tfrt.return %sum, %c7 : f32, !tfrt.chain
}
async.func @double_later(%v: !async.value<memref<2x2xf32>>) -> (!async.value<memref<2x2xf32>>, !async.value<memref<2x2xf32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : index
  %a = await %v : !async.value<memref<2x2xf32>>
  %t, %w = async.execute -> !async.value<memref<2x2xf32>> {
    %r = memref.alloc() : memref<2x2xf32>
    scf.for %i = %c0 to %two step %c1 {
      scf.for %j = %c0 to %two step %c1 {
        %x = memref.load %a[%i, %j] : memref<2x2xf32>
        %y = arith.addf %x, %x : f32
        memref.store %y, %r[%i, %j] : memref<2x2xf32>
      }
    }
    async.yield %r : memref<2x2xf32>
  }
  %b = await %w : !async.value<memref<2x2xf32>>
  return %a, %b : memref<2x2xf32>, memref<2x2xf32>
}
memref.global "private" constant @numbers : memref<3xi64> = dense<[7, 8, 9]>
func.func @constant() -> memref<3xi64> {
  %m = memref.get_global @numbers : memref<3xi64>
  return %m : memref<3xi64>
}
func.func @double(%a: memref<2x?xf32>, %ready: !async.token) -> (!async.token, memref<2x?xf32>, memref<?x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : index
  async.await %ready : !async.token
  %r = memref.alloc(%two) : memref<?x2xf32>
  scf.for %i = %c0 to %two step %c1 {
    scf.for %j = %c0 to %two step %c1 {
      %x = memref.load %a[%i, %j] : memref<2x?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %r[%i, %j] : memref<?x2xf32>
    }
  }
  %t = async.execute {
    async.yield
  }
  return %t, %a, %r : !async.token, memref<2x?xf32>, memref<?x2xf32>
}
func.func @sum(%a: memref<?x?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %two step %c1 iter_args(%outer = %zero) -> (f32) {
    %row = scf.for %j = %c0 to %two step %c1 iter_args(%inner = %outer) -> (f32) {
      %x = memref.load %a[%i, %j] : memref<?x?xf32>
      %y = arith.addf %x, %inner : f32
      scf.yield %y : f32
    }
    scf.yield %row : f32
  }
  return %s : f32
}
