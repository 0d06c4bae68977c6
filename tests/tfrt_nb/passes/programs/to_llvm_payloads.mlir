// pipeline: builtin.module(convert-async-to-llvm)
func.func @payloads() {
  %v = async.runtime.create : !async.value<memref<?xf32, 3>>
  %v1 = async.runtime.create : !async.value<memref<f32>>
  %v2 = async.runtime.create : !async.value<memref<2x?xf32, strided<[?, 2], offset: ?>>>
  %v3 = async.runtime.create : !async.value<complex<f64>>
  %v4 = async.runtime.create : !async.value<vector<4xf32>>
  %v5 = async.runtime.create : !async.value<vector<4x2xi8>>
  %v6 = async.runtime.create : !async.value<vector<f32>>
  %v7 = async.runtime.create : !async.value<vector<[4]xf32>>
  %v8 = async.runtime.create : !async.value<vector<2x3x4xindex>>
  %v9 = async.runtime.create : !async.value<(i32, index) -> i32>
  %v10 = async.runtime.create : !async.value<si32>
  %v11 = async.runtime.create : !async.value<f8E5M2>
  %v12 = async.runtime.create : !async.value<bf16>
  %v13 = async.runtime.create : !async.value<f80>
  %v14 = async.runtime.create : !async.value<i1>
  %v15 = async.runtime.create : !async.value<memref<3xvector<4xf32>>>
  %v16 = async.runtime.create : !async.value<!async.value<tensor<4xf32>>>
  %v17 = async.runtime.create : !async.value<!async.coro.id>
  %v18 = async.runtime.create : !async.value<!async.coro.handle>
  %v19 = async.runtime.create : !async.value<!llvm.struct<(i32, ptr)>>
  %v20 = async.runtime.create : !async.value<!llvm.ptr>
  %v21 = async.runtime.create : !async.value<memref<*xf32, 2>>
  %v22 = async.runtime.create : !async.value<tf32>
  %v23 = async.runtime.create : !async.value<f128>
  %v24 = async.runtime.create : !async.value<() -> ()>
  %v25 = async.runtime.create : !async.value<vector<2x[3]xf32>>
  %v26 = async.runtime.create : !async.value<memref<4xcomplex<f32>>>
  return
}
