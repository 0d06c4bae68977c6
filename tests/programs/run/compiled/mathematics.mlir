// Powers, integers of 128 bits, and functions of floats of each width.

func.func @powers() {
  %a0 = arith.constant 2 : i32
  %b0 = arith.constant 10 : i32
  %r0 = math.ipowi %a0, %b0 : i32
  vector.print %r0 : i32
  %a1 = arith.constant -3 : i32
  %b1 = arith.constant 3 : i32
  %r1 = math.ipowi %a1, %b1 : i32
  vector.print %r1 : i32
  %a2 = arith.constant 7 : i32
  %b2 = arith.constant 0 : i32
  %r2 = math.ipowi %a2, %b2 : i32
  vector.print %r2 : i32
  %a3 = arith.constant 0 : i32
  %b3 = arith.constant 0 : i32
  %r3 = math.ipowi %a3, %b3 : i32
  vector.print %r3 : i32
  %a4 = arith.constant 0 : i32
  %b4 = arith.constant 5 : i32
  %r4 = math.ipowi %a4, %b4 : i32
  vector.print %r4 : i32
  %a5 = arith.constant 1 : i32
  %b5 = arith.constant -4 : i32
  %r5 = math.ipowi %a5, %b5 : i32
  vector.print %r5 : i32
  %a6 = arith.constant -1 : i32
  %b6 = arith.constant -3 : i32
  %r6 = math.ipowi %a6, %b6 : i32
  vector.print %r6 : i32
  %a7 = arith.constant -1 : i32
  %b7 = arith.constant -4 : i32
  %r7 = math.ipowi %a7, %b7 : i32
  vector.print %r7 : i32
  %a8 = arith.constant 5 : i32
  %b8 = arith.constant -1 : i32
  %r8 = math.ipowi %a8, %b8 : i32
  vector.print %r8 : i32
  %a9 = arith.constant 3 : i32
  %b9 = arith.constant 40 : i32
  %r9 = math.ipowi %a9, %b9 : i32
  vector.print %r9 : i32
  %c0 = arith.constant 2.0 : f64
  %d0 = arith.constant 10 : i32
  %s0 = math.fpowi %c0, %d0 : f64, i32
  vector.print %s0 : f64
  %c1 = arith.constant -3.0 : f64
  %d1 = arith.constant 3 : i32
  %s1 = math.fpowi %c1, %d1 : f64, i32
  vector.print %s1 : f64
  %c2 = arith.constant 7.5 : f64
  %d2 = arith.constant 0 : i32
  %s2 = math.fpowi %c2, %d2 : f64, i32
  vector.print %s2 : f64
  %c3 = arith.constant 0.0 : f64
  %d3 = arith.constant 0 : i32
  %s3 = math.fpowi %c3, %d3 : f64, i32
  vector.print %s3 : f64
  %c4 = arith.constant 0.5 : f64
  %d4 = arith.constant -5 : i32
  %s4 = math.fpowi %c4, %d4 : f64, i32
  vector.print %s4 : f64
  return
}

func.func @wide() {
  %a = arith.constant -7 : i32
  %w = arith.extsi %a : i32 to i128
  %ww = arith.muli %w, %w : i128
  %t = arith.trunci %ww : i128 to i64
  vector.print %t : i64
  %u = arith.sitofp %ww : i128 to f64
  vector.print %u : f64
  %d = arith.divsi %ww, %w : i128
  %dt = arith.trunci %d : i128 to i64
  vector.print %dt : i64
  return
}

func.func @functions_f16() {
  %x = arith.constant 0.5 : f16
  %big = arith.constant 1.5 : f16
  %expm1 = math.expm1 %x : f16
  vector.print %expm1 : f16
  %log1p = math.log1p %x : f16
  vector.print %log1p : f16
  %asinh = math.asinh %x : f16
  vector.print %asinh : f16
  %acosh = math.acosh %big : f16
  vector.print %acosh : f16
  %atanh = math.atanh %x : f16
  vector.print %atanh : f16
  %erf = math.erf %x : f16
  vector.print %erf : f16
  %cbrt = math.cbrt %x : f16
  vector.print %cbrt : f16
  %exp = math.exp %x : f16
  vector.print %exp : f16
  %sin = math.sin %x : f16
  vector.print %sin : f16
  %rsqrt = math.rsqrt %x : f16
  vector.print %rsqrt : f16
  return
}

func.func @functions_bf16() {
  %x = arith.constant 0.5 : bf16
  %big = arith.constant 1.5 : bf16
  %expm1 = math.expm1 %x : bf16
  vector.print %expm1 : bf16
  %log1p = math.log1p %x : bf16
  vector.print %log1p : bf16
  %asinh = math.asinh %x : bf16
  vector.print %asinh : bf16
  %acosh = math.acosh %big : bf16
  vector.print %acosh : bf16
  %atanh = math.atanh %x : bf16
  vector.print %atanh : bf16
  %erf = math.erf %x : bf16
  vector.print %erf : bf16
  %cbrt = math.cbrt %x : bf16
  vector.print %cbrt : bf16
  %exp = math.exp %x : bf16
  vector.print %exp : bf16
  %sin = math.sin %x : bf16
  vector.print %sin : bf16
  %rsqrt = math.rsqrt %x : bf16
  vector.print %rsqrt : bf16
  return
}

func.func @functions_f32() {
  %x = arith.constant 0.5 : f32
  %big = arith.constant 1.5 : f32
  %expm1 = math.expm1 %x : f32
  vector.print %expm1 : f32
  %log1p = math.log1p %x : f32
  vector.print %log1p : f32
  %asinh = math.asinh %x : f32
  vector.print %asinh : f32
  %acosh = math.acosh %big : f32
  vector.print %acosh : f32
  %atanh = math.atanh %x : f32
  vector.print %atanh : f32
  %erf = math.erf %x : f32
  vector.print %erf : f32
  %cbrt = math.cbrt %x : f32
  vector.print %cbrt : f32
  %exp = math.exp %x : f32
  vector.print %exp : f32
  %sin = math.sin %x : f32
  vector.print %sin : f32
  %rsqrt = math.rsqrt %x : f32
  vector.print %rsqrt : f32
  return
}

func.func @functions_f64() {
  %x = arith.constant 0.5 : f64
  %big = arith.constant 1.5 : f64
  %expm1 = math.expm1 %x : f64
  vector.print %expm1 : f64
  %log1p = math.log1p %x : f64
  vector.print %log1p : f64
  %asinh = math.asinh %x : f64
  vector.print %asinh : f64
  %acosh = math.acosh %big : f64
  vector.print %acosh : f64
  %atanh = math.atanh %x : f64
  vector.print %atanh : f64
  %erf = math.erf %x : f64
  vector.print %erf : f64
  %cbrt = math.cbrt %x : f64
  vector.print %cbrt : f64
  %exp = math.exp %x : f64
  vector.print %exp : f64
  %sin = math.sin %x : f64
  vector.print %sin : f64
  %rsqrt = math.rsqrt %x : f64
  vector.print %rsqrt : f64
  return
}

func.func @main() {
  call @powers() : () -> ()
  call @wide() : () -> ()
  call @functions_f16() : () -> ()
  call @functions_bf16() : () -> ()
  call @functions_f32() : () -> ()
  call @functions_f64() : () -> ()
  return
}
