// `linalg` on buffers: fills, copies, sums, products, and what users write themselves.

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#turning = {indexing_maps = [#all, #turned], iterator_types = ["parallel", "parallel"]}
#one = affine_map<(i, j) -> ()>

func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }
func.func private @printMemrefI32(memref<*xi32>) attributes { llvm.emit_c_interface }

func.func @show(%m: memref<?x?xf32>) {
  %any = memref.cast %m : memref<?x?xf32> to memref<*xf32>
  call @printMemrefF32(%any) : (memref<*xf32>) -> ()
  return
}

func.func @sums(%m: memref<?x?xf32>, %rows: memref<?xf32>) {
  linalg.generic {
    indexing_maps = [#all, #row],
    iterator_types = ["parallel", "reduction"]
  } ins(%m : memref<?x?xf32>) outs(%rows : memref<?xf32>) {
    ^bb0(%x: f32, %sum: f32):
      %more = arith.addf %sum, %x : f32
      linalg.yield %more : f32
  }
  return
}

func.func @main() {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<2x3xf32>
  linalg.fill ins(%two : f32) outs(%m : memref<2x3xf32>)
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %rows_end = arith.constant 2 : index
  %columns_end = arith.constant 3 : index
  scf.for %i = %from to %rows_end step %step {
    scf.for %j = %from to %columns_end step %step {
      %ten = arith.constant 10 : index
      %tens = arith.muli %i, %ten : index
      %n = arith.addi %tens, %j : index
      %k = arith.index_cast %n : index to i32
      %y = arith.sitofp %k : i32 to f32
      memref.store %y, %m[%i, %j] : memref<2x3xf32>
    }
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]}
    outs(%m : memref<2x3xf32>) {
    ^bb0(%x: f32):
      %z = arith.addf %x, %two : f32
      linalg.yield %z : f32
  }
  %dynamic = memref.cast %m : memref<2x3xf32> to memref<?x?xf32>
  call @show(%dynamic) : (memref<?x?xf32>) -> ()

  // Rows that are summed, in a task.
  %rows = memref.alloc() : memref<2xf32>
  linalg.fill ins(%zero : f32) outs(%rows : memref<2xf32>)
  %some = memref.cast %rows : memref<2xf32> to memref<?xf32>
  %token = async.execute {
    func.call @sums(%dynamic, %some) : (memref<?x?xf32>, memref<?xf32>) -> ()
    async.yield
  }
  async.await %token : !async.token
  %any_rows = memref.cast %rows : memref<2xf32> to memref<*xf32>
  call @printMemrefF32(%any_rows) : (memref<*xf32>) -> ()

  // All of it in one number; what is turned over.
  %total = memref.alloc() : memref<f32>
  linalg.fill ins(%zero : f32) outs(%total : memref<f32>)
  linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction"]}
    ins(%m : memref<2x3xf32>) outs(%total : memref<f32>) {
    ^bb0(%x: f32, %sum: f32):
      %more = arith.addf %sum, %x : f32
      linalg.yield %more : f32
  }
  %sum = memref.load %total[] : memref<f32>
  vector.print %sum : f32
  %turned = memref.alloc() : memref<3x2xf32>
  linalg.generic #turning
    ins(%m : memref<2x3xf32>) outs(%turned : memref<3x2xf32>) {
    ^bb0(%x: f32, %y: f32):
      linalg.yield %x : f32
  }
  %dynamic_turned = memref.cast %turned : memref<3x2xf32> to memref<?x?xf32>
  call @show(%dynamic_turned) : (memref<?x?xf32>) -> ()

  // Operations with a name.
  %product = memref.alloc() : memref<2x2xf32>
  linalg.fill ins(%one : f32) outs(%product : memref<2x2xf32>)
  linalg.matmul ins(%m, %turned : memref<2x3xf32>, memref<3x2xf32>)
                outs(%product : memref<2x2xf32>)
  %dynamic_product = memref.cast %product : memref<2x2xf32> to memref<?x?xf32>
  call @show(%dynamic_product) : (memref<?x?xf32>) -> ()
  linalg.add ins(%product, %product : memref<2x2xf32>, memref<2x2xf32>)
             outs(%product : memref<2x2xf32>)
  linalg.sub ins(%product, %product : memref<2x2xf32>, memref<2x2xf32>)
             outs(%product : memref<2x2xf32>)
  call @show(%dynamic_product) : (memref<?x?xf32>) -> ()
  linalg.copy ins(%turned : memref<3x2xf32>) outs(%dynamic_turned : memref<?x?xf32>)

  // Named operations convert what they are given.
  %half = arith.constant 3.7 : f32
  %small = memref.alloc() : memref<2xi32>
  linalg.fill ins(%half : f32) outs(%small : memref<2xi32>)
  %any_small = memref.cast %small : memref<2xi32> to memref<*xi32>
  call @printMemrefI32(%any_small) : (memref<*xi32>) -> ()
  %wide = memref.alloc() : memref<2xf64>
  linalg.copy ins(%small : memref<2xi32>) outs(%wide : memref<2xf64>)
  %narrow = memref.alloc() : memref<2xi8>
  linalg.copy ins(%small : memref<2xi32>) outs(%narrow : memref<2xi8>)
  linalg.copy ins(%narrow : memref<2xi8>) outs(%small : memref<2xi32>)
  call @printMemrefI32(%any_small) : (memref<*xi32>) -> ()
  %single = memref.alloc() : memref<2xf32>
  linalg.copy ins(%wide : memref<2xf64>) outs(%single : memref<2xf32>)
  linalg.copy ins(%single : memref<2xf32>) outs(%wide : memref<2xf64>)
  %any_single = memref.cast %single : memref<2xf32> to memref<*xf32>
  call @printMemrefF32(%any_single) : (memref<*xf32>) -> ()
  %minus_one = arith.constant -1 : i8
  linalg.fill ins(%minus_one : i8) outs(%narrow : memref<2xi8>)
  linalg.copy {cast = #linalg.type_fn<cast_unsigned>}
    ins(%narrow : memref<2xi8>) outs(%small : memref<2xi32>)
  call @printMemrefI32(%any_small) : (memref<*xi32>) -> ()
  linalg.copy {cast = #linalg.type_fn<cast_unsigned>}
    ins(%narrow : memref<2xi8>) outs(%single : memref<2xf32>)
  call @printMemrefF32(%any_single) : (memref<*xf32>) -> ()
  linalg.copy {cast = #linalg.type_fn<cast_signed>}
    ins(%narrow : memref<2xi8>) outs(%single : memref<2xf32>)
  call @printMemrefF32(%any_single) : (memref<*xf32>) -> ()

  memref.dealloc %m : memref<2x3xf32>
  memref.dealloc %rows : memref<2xf32>
  memref.dealloc %total : memref<f32>
  memref.dealloc %turned : memref<3x2xf32>
  memref.dealloc %product : memref<2x2xf32>
  memref.dealloc %small : memref<2xi32>
  memref.dealloc %wide : memref<2xf64>
  memref.dealloc %narrow : memref<2xi8>
  memref.dealloc %single : memref<2xf32>
  return
}
