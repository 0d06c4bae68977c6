// `arith` and `math` on vectors, lane by lane; vectors in tasks and in buffers.

func.func @main() {
  %a = arith.constant dense<[0.5, 1.0, 0.25, 0.125]> : vector<4xf32>
  %i = arith.constant dense<[1, -2, 3, 4]> : vector<4xi32>
  %b = arith.addf %a, %a : vector<4xf32>
  %c = math.sin %b : vector<4xf32>
  %d = math.erf %c : vector<4xf32>
  %e = math.rsqrt %a : vector<4xf32>
  %f = arith.cmpi slt, %i, %i : vector<4xi32>
  %g = arith.sitofp %i : vector<4xi32> to vector<4xf32>
  %h = arith.select %f, %g, %a : vector<4xi1>, vector<4xf32>
  %j = arith.floordivsi %i, %i : vector<4xi32>
  %z = arith.constant dense<2.0> : vector<f32>
  %zz = arith.mulf %z, %z : vector<f32>
  %k = math.fma %a, %b, %a : vector<4xf32>
  %l = arith.maxsi %i, %j : vector<4xi32>
  %m, %n = arith.mulsi_extended %i, %i : vector<4xi32>
  %o = arith.index_cast %i : vector<4xi32> to vector<4xindex>
  %p = arith.truncf %a : vector<4xf32> to vector<4xf16>
  %q = arith.negf %a : vector<4xf32>
  %r = math.powf %a, %b : vector<4xf32>
  vector.print %b : vector<4xf32>
  vector.print %c : vector<4xf32>
  vector.print %d : vector<4xf32>
  vector.print %e : vector<4xf32>
  vector.print %f : vector<4xi1>
  vector.print %g : vector<4xf32>
  vector.print %h : vector<4xf32>
  vector.print %j : vector<4xi32>
  vector.print %zz : vector<f32>
  vector.print %k : vector<4xf32>
  vector.print %l : vector<4xi32>
  vector.print %m : vector<4xi32>
  vector.print %n : vector<4xi32>
  vector.print %o : vector<4xindex>
  vector.print %p : vector<4xf16>
  vector.print %q : vector<4xf32>
  vector.print %r : vector<4xf32>
  %t, %v = async.execute -> !async.value<vector<4xf32>> {
    %s = arith.addf %a, %b : vector<4xf32>
    async.yield %s : vector<4xf32>
  }
  %w = async.await %v : !async.value<vector<4xf32>>
  vector.print %w : vector<4xf32>
  %mm = memref.alloc() : memref<2xvector<4xf32>>
  %c1 = arith.constant 1 : index
  memref.store %w, %mm[%c1] : memref<2xvector<4xf32>>
  %ld = memref.load %mm[%c1] : memref<2xvector<4xf32>>
  vector.print %ld : vector<4xf32>
  memref.dealloc %mm : memref<2xvector<4xf32>>
  return
}
