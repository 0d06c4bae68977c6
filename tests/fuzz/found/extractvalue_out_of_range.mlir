module {
  llvm.func @f(%arg0: vector<4xi64>) attributes {passthrough = ["x"]} {
    %0 = llvm.mlir.constant(1.000000e+00 : f32) : f32
    %1 = llvm.mlir.constant(dense<1> : vector<4xi32>) : vector<4xi32>
    %2 = llvm.mlir.constant(1 : index) : i64
    %3 = llvm.mlir.constant(true) : i1
    %4 = llvm.mlir.constant(7 : i8) : i8
    %5 = llvm.mlir.constant("foo") : !llvm.array<3 x i8>
    %6 = llvm.add %2, %2 overflow<nsw> : i64
    %7 = llvm.and %2, %2  {foo = 1 : i64} : i64
    %8 = llvm.load %arg0 {alignment = 1 : i64} : vector<4xi64> -> i64
    llvm.store %8, %arg0 {alignment = 1 : i64} : i64, vector<4xi64>
    %9 = llvm.getelementptr inbounds %arg0[%8, 1] : (vector<4xi64>, i64) -> vector<4xi64>, !llvm.array<4 x struct<(i32, ptr)>>
    llvm.switch %8 : i64, ^bb1(%8 : i64) [
      18446744073709551615: ^bb2(%8, %8 : i64, i64),
      1: ^bb3
    ]
  ^bb1(%10: i64):  // 2 preds: ^bb0, ^bb2
    llvm.br ^bb2(%10, %10 : i64, i64)
  ^bb2(%11: i64, %12: i64):  // 2 preds: ^bb0, ^bb1
    llvm.cond_br %3, ^bb1(%11 : i64), ^bb3
  ^bb3:  // 3 preds: ^bb0, ^bb2, ^bb3
    %13 = llvm.or %2, %2  : i64
    %14 = llvm.xor %2, %2  : i64
    llvm.switch %8 : i64, ^bb3 [
    ]
  }
  llvm.func @g(i32, ...) -> i32
  llvm.func @h() {
    %0 = llvm.mlir.none : !llvm.token
    llvm.unreachable
  }
  llvm.func @arithmetic(%arg0: i64, %arg1: f64) {
    %0 = llvm.sdiv %arg0, %arg0  : i64
    %1 = llvm.srem %arg0, %arg0  : i64
    %2 = llvm.shl %arg0, %arg0 : i64
    %3 = llvm.trunc %arg0 : i64 to i32
    %4 = llvm.icmp "slt" %arg0, %arg0 : i64
    %5 = llvm.zext %3 : i32 to i64
    %6 = llvm.udiv %arg0, %arg0  : i64
    %7 = llvm.urem %arg0, %arg0  : i64
    %8 = llvm.ashr %arg0, %arg0  : i64
    %9 = llvm.lshr %arg0, %arg0  : i64
    %10 = llvm.mlir.undef : !llvm.struct<(ptr, array<2 x i64>)>
    %11 = llvm.insertvalue %arg0, %10[1, 0] : !llvm.struct<(ptr, array<2 x i64>)> 
    %12 = llvm.extractvalue %11[256, 0] : !llvm.struct<(ptr, array<2 x i64>)> 
    llvm.return