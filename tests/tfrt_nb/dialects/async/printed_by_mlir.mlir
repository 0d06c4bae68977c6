module {
  func.func @f(%arg0: !async.value<!async.value<f32>>, %arg1: !async.value<memref<4x?xf32>>, %arg2: !async.value<tensor<2xi1>>, %arg3: !async.value<vector<4xf32>>, %arg4: !async.value<complex<f32>>, %arg5: !async.value<tuple<i1, f32>>, %arg6: !async.value<none>) {
    return
  }
}
// -----
module {
  func.func @f(%arg0: !async.coro.id, %arg1: !async.coro.handle, %arg2: !async.coro.state, %arg3: !async.group) {
    return
  }
}
// -----
module {
  func.func @f(%arg0: !async.value<f32>) {
    %0 = async.await %arg0 : !async.value<f32>
    return
  }
}
// -----
module {
  func.func @f(%arg0: !async.group) {
    async.await_all %arg0 {a}
    async.await_all %arg0 {b = 1 : i32}
    return
  }
}
// -----
module {
  func.func @f(%arg0: !async.value<f32>, %arg1: !async.token) {
    %token, %bodyResults = async.execute [%arg1] (%arg0 as %arg2: !async.value<f32>) -> !async.value<f32> {
      async.yield %arg2 : f32
    }
    %token_0, %bodyResults_1 = async.execute [%arg1, %token] (%arg0 as %arg2: !async.value<f32>, %bodyResults as %arg3: !async.value<f32>) -> !async.value<f32> attributes {x} {
      %0 = arith.addf %arg2, %arg3 : f32
      async.yield %0 : f32
    }
    return
  }
}
// -----
module {
  func.func @f() {
    %token, %bodyResults = async.execute -> !async.value<f32> {
      %cst = arith.constant 1.000000e+00 : f32
      async.yield %cst : f32
    }
    return
  }
}
// -----
module {
  func.func @f(%arg0: !async.value<index>) {
    %token = async.execute (%arg0 as %arg1: !async.value<index>) {
      async.yield
    }
    return
  }
}
// -----
module {
  async.func @g(%arg0: i32) -> !async.value<i32> {
    return %arg0 : i32
  }
}
// -----
module {
  async.func private @g(%arg0: i32) -> !async.value<i32> {
    %0 = call @g(%arg0) : (i32) -> !async.value<i32>
    %1 = await %0 : !async.value<i32>
    return %1 : i32
  }
}
// -----
module {
  async.func @f(%arg0: i32 {x.y = 1 : i32}) -> (!async.token {x.z}) {
    return
  }
}
// -----
module {
  async.func public @f(%arg0: i32) -> !async.token {
    return
  }
}
// -----
module {
  async.func nested @f(i32) -> !async.token
}
// -----
module {
  async.func private @f(i32) -> !async.token attributes {a}
}
// -----
module {
  async.func @f(%arg0: i32) -> !async.token {
    %0 = call @f(%arg0) : (i32) -> !async.token
    return
  }
}
// -----
module {
  async.func @f(%arg0: i32) -> !async.token {
    %0 = call @f(%arg0) : (i32) -> !async.token
    await %0 : !async.token
    return
  }
}
// -----
module {
  async.func @f(%arg0: i32) -> !async.token {
    %token = execute {
      async.yield
    }
    return
  }
}
// -----
module {
  func.func @f(%arg0: !async.token, %arg1: !async.value<f32>, %arg2: !async.group, %arg3: index, %arg4: f32, %arg5: !async.coro.handle) -> index {
    %0 = async.runtime.create : !async.token
    %1 = async.runtime.create : !async.value<i1>
    %2 = async.runtime.create_group %arg3 : !async.group
    async.runtime.set_available %0 : !async.token
    async.runtime.set_error %1 : !async.value<i1>
    %3 = async.runtime.is_error %arg2 : !async.group
    async.runtime.await %arg2 : !async.group
    async.runtime.resume %arg5
    async.runtime.await_and_resume %arg2, %arg5 : !async.group
    async.runtime.store %arg4, %arg1 : <f32>
    %4 = async.runtime.load %arg1 : <f32>
    %5 = async.runtime.add_to_group %arg0, %arg2 : !async.token
    async.runtime.add_ref %arg2 {count = 3 : i64} : !async.group
    async.runtime.drop_ref %arg2 {count = 3 : i64} : !async.group
    %6 = async.runtime.num_worker_threads : index
    return %6 : index
  }
}
// -----
module {
  func.func @f(%arg0: !async.value<f32>, %arg1: f32) {
    async.runtime.store %arg1, %arg0 : <f32>
    async.runtime.store %arg1, %arg0 : <f32>
    return
  }
}
// -----
module {
  func.func @f() {
    %0 = async.runtime.num_worker_threads : index
    return
  }
}
// -----
module {
  func.func @f() {
    %0 = async.coro.id
    %1 = async.coro.begin %0
    %2 = async.coro.save %1
    async.coro.suspend %2, ^bb1, ^bb1, ^bb2
  ^bb1:  // 2 preds: ^bb0, ^bb0
    async.coro.free %0, %1
    async.coro.end %1
    return
  ^bb2:  // pred: ^bb0
    return
  }
}
// -----
module {
  func.func @f() {
    %0 = async.coro.id
    %1 = async.coro.begin %0
    %2 = async.coro.save %1
    async.coro.suspend %2, ^bb1, ^bb1, ^bb2
  ^bb1:  // 2 preds: ^bb0, ^bb0
    async.coro.free %0, %1
    async.coro.end %1
    return
  ^bb2:  // pred: ^bb0
    return
  }
}
// -----
module {
  func.func @f(%arg0: i32, %arg1: i32, %arg2: f32, %arg3: f64, %arg4: vector<4xf32>) {
    %0 = math.absf %arg2 : f32
    %1 = math.absi %arg0 : i32
    %2 = math.atan %arg2 : f32
    %3 = math.atan2 %arg2, %arg2 : f32
    %4 = math.cbrt %arg2 : f32
    %5 = math.ceil %arg2 : f32
    %6 = math.copysign %arg2, %arg2 : f32
    %7 = math.cos %arg2 : f32
    %8 = math.ctlz %arg0 : i32
    %9 = math.ctpop %arg0 : i32
    %10 = math.cttz %arg0 : i32
    %11 = math.erf %arg2 : f32
    %12 = math.exp %arg2 : f32
    %13 = math.exp2 %arg2 : f32
    %14 = math.expm1 %arg2 : f32
    %15 = math.floor %arg2 : f32
    %16 = math.fma %arg2, %arg2, %arg2 : f32
    %17 = math.fpowi %arg2, %arg0 : f32, i32
    %18 = math.ipowi %arg0, %arg1 : i32
    %19 = math.log %arg2 : f32
    %20 = math.log10 %arg2 : f32
    %21 = math.log1p %arg2 : f32
    %22 = math.log2 %arg2 : f32
    %23 = math.powf %arg2, %arg2 : f32
    %24 = math.round %arg2 : f32
    %25 = math.roundeven %arg2 : f32
    %26 = math.rsqrt %arg2 : f32
    %27 = math.sin %arg2 : f32
    %28 = math.sqrt %arg2 fastmath<fast> : f32
    %29 = math.tan %arg2 : f32
    %30 = math.tanh %arg3 : f64
    %31 = math.trunc %arg2 : f32
    %32 = math.sinh %arg2 : f32
    %33 = math.cosh %arg2 : f32
    %34 = math.asin %arg2 : f32
    %35 = math.acos %arg2 : f32
    %36 = math.asinh %arg2 : f32
    %37 = math.acosh %arg2 : f32
    %38 = math.atanh %arg2 : f32
    %39 = math.sqrt %arg4 : vector<4xf32>
    return
  }
}
// -----
module {
  func.func @f(%arg0: index, %arg1: index, %arg2: index, %arg3: i1, %arg4: f32, %arg5: i32) -> (f32, i32) {
    scf.for %arg6 = %arg0 to %arg1 step %arg2 {
      "test.use"(%arg6) : (index) -> ()
    }
    return %arg4, %arg5 : f32, i32
  }
}
// -----
module {
  func.func @f(%arg0: i32, %arg1: f32, %arg2: i64) -> i32 {
    cf.switch %arg0 : i32, [
      default: ^bb1(%arg0 : i32),
      42: ^bb1(%arg0 : i32),
      4294967289: ^bb2(%arg1, %arg2 : f32, i64)
    ]
  ^bb1(%0: i32):  // 3 preds: ^bb0, ^bb0, ^bb3
    return %0 : i32
  ^bb2(%1: f32, %2: i64):  // 2 preds: ^bb0, ^bb3
    cf.switch %arg0 : i32, [
      default: ^bb3]
  ^bb3:  // pred: ^bb2
    %true = arith.constant true
    cf.cond_br %true, ^bb1(%arg0 : i32), ^bb2(%1, %2 : f32, i64)
  }
}
// -----
module {
  func.func @f() {
    %c1_i8 = arith.constant 1 : i8
    %c-1_i16 = arith.constant -1 : i16
    %c31_i32 = arith.constant 31 : i32
    %cst = arith.constant 1.500000e+03 : f64
    %cst_0 = arith.constant 0x7F800000 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 0x7FC00000 : f32
    %true = arith.constant true
    %false = arith.constant false
    %c5 = arith.constant 5 : index
    %cst_3 = arith.constant dense<1.000000e+00> : vector<4xf32>
    %cst_4 = arith.constant dense<[1, 2]> : tensor<2xi32>
    %cst_5 = arith.constant 0x7FF0000000000000 : f64
    %cst_6 = arith.constant 1.100000e+00 : f32
    %cst_7 = arith.constant -0.000000e+00 : f64
    %cst_8 = arith.constant 1.000000e-10 : f64
    %cst_9 = arith.constant 0x419D6F3454000000 : f64
    %c-1_i8 = arith.constant -1 : i8
    %true_10 = arith.constant true
    %cst_11 = arith.constant 9.997550e-02 : f16
    %c3_i32 = arith.constant {foo} 3 : i32
    %c9223372036854775807_i64 = arith.constant 9223372036854775807 : i64
    %c-9223372036854775808_i64 = arith.constant -9223372036854775808 : i64
    %c-1_i64 = arith.constant -1 : i64
    return
  }
}
// -----
module @named attributes {a.b = 1 : i32} {
  func.func @f() {
    return
  }
}
// -----
module {
  module @inner {
    func.func @f() {
      return
    }
  }
  func.func @g() {
    return
  }
}
// -----
module {
  func.func @add(%arg0: i32, %arg1: i32) -> i32 {
    %0 = arith.addi %arg0, %arg1 : i32
    return %0 : i32
  }
  func.func @sub(%arg0: i32, %arg1: i32) -> i32 {
    %0 = arith.subi %arg0, %arg1 : i32
    return %0 : i32
  }
  func.func @mul(%arg0: i32, %arg1: i32) -> i32 {
    %0 = arith.muli %arg0, %arg1 : i32
    return %0 : i32
  }
  func.func @none() {
    return
  }
  func.func @apply(%arg0: (i32, i32) -> i32, %arg1: i32, %arg2: i32) -> i32 {
    %0 = call_indirect %arg0(%arg1, %arg2) : (i32, i32) -> i32
    return %0 : i32
  }
  async.func @later(%arg0: (i32, i32) -> i32, %arg1: i32) -> !async.value<i32> {
    %0 = func.call_indirect %arg0(%arg1, %arg1) : (i32, i32) -> i32
    return %0 : i32
  }
  func.func @down(%arg0: i32, %arg1: i32) -> i32 {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = arith.cmpi eq, %arg0, %c0_i32 : i32
    %1 = scf.if %0 -> (i32) {
      scf.yield %arg1 : i32
    } else {
      %f = func.constant @down : (i32, i32) -> i32
      %2 = arith.subi %arg0, %c1_i32 : i32
      %3 = arith.addi %arg1, %arg0 : i32
      %4 = func.call_indirect %f(%2, %3) : (i32, i32) -> i32
      scf.yield %4 : i32
    }
    return %1 : i32
  }
  func.func @main() {
    %c6_i32 = arith.constant 6 : i32
    %c2_i32 = arith.constant 2 : i32
    %true = arith.constant true
    %false = arith.constant false
    %f = constant @mul : (i32, i32) -> i32
    %0 = call_indirect %f(%c6_i32, %c2_i32) : (i32, i32) -> i32
    vector.print %0 : i32
    %1 = call @apply(%f, %c6_i32, %c2_i32) : ((i32, i32) -> i32, i32, i32) -> i32
    vector.print %1 : i32
    %f_0 = constant @add : (i32, i32) -> i32
    %f_1 = constant @sub : (i32, i32) -> i32
    %2 = arith.select %true, %f_0, %f_1 : (i32, i32) -> i32
    %3 = scf.if %false -> ((i32, i32) -> i32) {
      scf.yield %f_0 : (i32, i32) -> i32
    } else {
      scf.yield %f_1 : (i32, i32) -> i32
    }
    %4 = call_indirect %2(%c6_i32, %c2_i32) : (i32, i32) -> i32
    vector.print %4 : i32
    %5 = call_indirect %3(%c6_i32, %c2_i32) : (i32, i32) -> i32
    vector.print %5 : i32
    %token, %bodyResults = async.execute -> !async.value<(i32, i32) -> i32> {
      %11 = func.call_indirect %3(%c2_i32, %c6_i32) : (i32, i32) -> i32
      vector.print %11 : i32
      async.yield %2 : (i32, i32) -> i32
    }
    %6 = async.await %bodyResults : !async.value<(i32, i32) -> i32>
    %7 = call_indirect %6(%c2_i32, %c2_i32) : (i32, i32) -> i32
    vector.print %7 : i32
    %8 = async.call @later(%f, %c6_i32) : ((i32, i32) -> i32, i32) -> !async.value<i32>
    %9 = async.await %8 : !async.value<i32>
    vector.print %9 : i32
    %c100_i32 = arith.constant 100 : i32
    %c0_i32 = arith.constant 0 : i32
    %10 = call @down(%c100_i32, %c0_i32) : (i32, i32) -> i32
    vector.print %10 : i32
    %f_2 = constant @none : () -> ()
    call_indirect %f_2() : () -> ()
    return
  }
}
// -----
module {
  func.func @main() {
    %cst = arith.constant 1.500000e+00 : f32
    %true = arith.constant true
    %c-3 = arith.constant -3 : index
    %c-3_i64 = arith.constant -3 : i64
    %c-3_i8 = arith.constant -3 : i8
    %cst_0 = arith.constant 1.000000e+10 : f64
    %cst_1 = arith.constant 2.500000e+00 : f16
    %cst_2 = arith.constant 2.500000e+00 : bf16
    %true_3 = arith.constant true
    %cst_4 = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.500000e+00]> : vector<3xf32>
    %cst_5 = arith.constant dense<[true, false, true]> : vector<3xi1>
    %c123456789012_i40 = arith.constant 123456789012 : i40
    %c3_i3 = arith.constant 3 : i3
    %cst_6 = arith.constant 0x7FC00000 : f32
    %cst_7 = arith.constant 0xFF800000 : f32
    %cst_8 = arith.constant -0.000000e+00 : f64
    vector.print %cst : f32
    vector.print %true : i1
    vector.print %c-3 : index
    vector.print %c-3_i64 : i64
    vector.print %c-3_i8 : i8
    vector.print %cst_0 : f64
    vector.print %cst_1 : f16
    vector.print %cst_2 : bf16
    vector.print %true_3 : i1
    vector.print %cst_4 : vector<3xf32>
    vector.print %cst_5 : vector<3xi1>
    vector.print %c123456789012_i40 : i40
    vector.print %c3_i3 : i3
    vector.print %cst_6 : f32
    vector.print %cst_7 : f32
    vector.print %cst_8 : f64
    vector.print %cst : f32
    vector.print %c-3 : index
    %cst_9 = arith.constant 0x4170000010000000 : f64
    vector.print %cst_9 : f64
    %cst_10 = arith.constant 1.000000e-07 : f32
    vector.print %cst_10 : f32
    %cst_11 = arith.constant 0.33333333333333331 : f64
    vector.print %cst_11 : f64
    %cst_12 = arith.constant dense<[[1, 2], [3, -4]]> : vector<2x2xi8>
    %cst_13 = arith.constant dense<[[[1.500000e+00, 2.000000e+00]], [[3.000000e+00, 4.000000e+00]], [[5.000000e+00, 6.000000e+00]]]> : vector<3x1x2xf64>
    %cst_14 = arith.constant dense<5> : vector<i64>
    vector.print %cst_12 : vector<2x2xi8>
    vector.print %cst_13 : vector<3x1x2xf64>
    vector.print %cst_14 : vector<i64>
    vector.print %cst : f32
    %c-1_i8 = arith.constant -1 : i8
    vector.print %c-1_i8 : i8
    return
  }
}
// -----
module {
  memref.global "private" @cells : memref<4xi32> = uninitialized
  memref.global constant @half : memref<f32> = dense<5.000000e-01> {alignment = 64 : i64}
}
