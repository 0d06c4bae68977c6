// Tensors from a file: every kernel that reads one.  `tfrt_runtime.kernels.tensor.btf` writes such files.
func @f32() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %path = tfrt_test.get_string {value = "every_type_and_rank.btf"}
  %i0 = tfrt.constant.i32 0
  %t0 = "btf.read_dense_tensor.f32.0"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %c0 = tfrt_dht.print_tensor %t0, %ch
  %i1 = tfrt.constant.i32 1
  %t1 = "btf.read_coo_tensor.f32.0"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %c1 = tfrt_dht.print_tensor %t1, %c0
  %i2 = tfrt.constant.i32 2
  %t2 = "btf.read_dense_tensor.f32.1"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %c2 = tfrt_dht.print_tensor %t2, %c1
  %i3 = tfrt.constant.i32 3
  %t3 = "btf.read_coo_tensor.f32.1"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %c3 = tfrt_dht.print_tensor %t3, %c2
  %i4 = tfrt.constant.i32 4
  %t4 = "btf.read_dense_tensor.f32.2"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  %c4 = tfrt_dht.print_tensor %t4, %c3
  %i5 = tfrt.constant.i32 5
  %t5 = "btf.read_coo_tensor.f32.2"(%path, %i5) : (!tfrt.string, i32) -> !t.tensor
  %c5 = tfrt_dht.print_tensor %t5, %c4
  %i6 = tfrt.constant.i32 6
  %t6 = "btf.read_dense_tensor.f32.3"(%path, %i6) : (!tfrt.string, i32) -> !t.tensor
  %c6 = tfrt_dht.print_tensor %t6, %c5
  %i7 = tfrt.constant.i32 7
  %t7 = "btf.read_coo_tensor.f32.3"(%path, %i7) : (!tfrt.string, i32) -> !t.tensor
  %c7 = tfrt_dht.print_tensor %t7, %c6
  %i8 = tfrt.constant.i32 8
  %t8 = "btf.read_dense_tensor.f32.4"(%path, %i8) : (!tfrt.string, i32) -> !t.tensor
  %c8 = tfrt_dht.print_tensor %t8, %c7
  %i9 = tfrt.constant.i32 9
  %t9 = "btf.read_coo_tensor.f32.4"(%path, %i9) : (!tfrt.string, i32) -> !t.tensor
  %c9 = tfrt_dht.print_tensor %t9, %c8
  %i10 = tfrt.constant.i32 10
  %t10 = "btf.read_dense_tensor.f32.5"(%path, %i10) : (!tfrt.string, i32) -> !t.tensor
  %c10 = tfrt_dht.print_tensor %t10, %c9
  %i11 = tfrt.constant.i32 11
  %t11 = "btf.read_coo_tensor.f32.5"(%path, %i11) : (!tfrt.string, i32) -> !t.tensor
  %c11 = tfrt_dht.print_tensor %t11, %c10
  tfrt.return %c11 : !tfrt.chain
}

func @i32() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %path = tfrt_test.get_string {value = "every_type_and_rank.btf"}
  %i12 = tfrt.constant.i32 12
  %t12 = "btf.read_dense_tensor.i32.0"(%path, %i12) : (!tfrt.string, i32) -> !t.tensor
  %c12 = tfrt_dht.print_tensor %t12, %ch
  %i13 = tfrt.constant.i32 13
  %t13 = "btf.read_coo_tensor.i32.0"(%path, %i13) : (!tfrt.string, i32) -> !t.tensor
  %c13 = tfrt_dht.print_tensor %t13, %c12
  %i14 = tfrt.constant.i32 14
  %t14 = "btf.read_dense_tensor.i32.1"(%path, %i14) : (!tfrt.string, i32) -> !t.tensor
  %c14 = tfrt_dht.print_tensor %t14, %c13
  %i15 = tfrt.constant.i32 15
  %t15 = "btf.read_coo_tensor.i32.1"(%path, %i15) : (!tfrt.string, i32) -> !t.tensor
  %c15 = tfrt_dht.print_tensor %t15, %c14
  %i16 = tfrt.constant.i32 16
  %t16 = "btf.read_dense_tensor.i32.2"(%path, %i16) : (!tfrt.string, i32) -> !t.tensor
  %c16 = tfrt_dht.print_tensor %t16, %c15
  %i17 = tfrt.constant.i32 17
  %t17 = "btf.read_coo_tensor.i32.2"(%path, %i17) : (!tfrt.string, i32) -> !t.tensor
  %c17 = tfrt_dht.print_tensor %t17, %c16
  %i18 = tfrt.constant.i32 18
  %t18 = "btf.read_dense_tensor.i32.3"(%path, %i18) : (!tfrt.string, i32) -> !t.tensor
  %c18 = tfrt_dht.print_tensor %t18, %c17
  %i19 = tfrt.constant.i32 19
  %t19 = "btf.read_coo_tensor.i32.3"(%path, %i19) : (!tfrt.string, i32) -> !t.tensor
  %c19 = tfrt_dht.print_tensor %t19, %c18
  %i20 = tfrt.constant.i32 20
  %t20 = "btf.read_dense_tensor.i32.4"(%path, %i20) : (!tfrt.string, i32) -> !t.tensor
  %c20 = tfrt_dht.print_tensor %t20, %c19
  %i21 = tfrt.constant.i32 21
  %t21 = "btf.read_coo_tensor.i32.4"(%path, %i21) : (!tfrt.string, i32) -> !t.tensor
  %c21 = tfrt_dht.print_tensor %t21, %c20
  %i22 = tfrt.constant.i32 22
  %t22 = "btf.read_dense_tensor.i32.5"(%path, %i22) : (!tfrt.string, i32) -> !t.tensor
  %c22 = tfrt_dht.print_tensor %t22, %c21
  %i23 = tfrt.constant.i32 23
  %t23 = "btf.read_coo_tensor.i32.5"(%path, %i23) : (!tfrt.string, i32) -> !t.tensor
  %c23 = tfrt_dht.print_tensor %t23, %c22
  tfrt.return %c23 : !tfrt.chain
}

func @i64() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %path = tfrt_test.get_string {value = "every_type_and_rank.btf"}
  %i24 = tfrt.constant.i32 24
  %t24 = "btf.read_dense_tensor.i64.0"(%path, %i24) : (!tfrt.string, i32) -> !t.tensor
  %c24 = tfrt_dht.print_tensor %t24, %ch
  %i25 = tfrt.constant.i32 25
  %t25 = "btf.read_coo_tensor.i64.0"(%path, %i25) : (!tfrt.string, i32) -> !t.tensor
  %c25 = tfrt_dht.print_tensor %t25, %c24
  %i26 = tfrt.constant.i32 26
  %t26 = "btf.read_dense_tensor.i64.1"(%path, %i26) : (!tfrt.string, i32) -> !t.tensor
  %c26 = tfrt_dht.print_tensor %t26, %c25
  %i27 = tfrt.constant.i32 27
  %t27 = "btf.read_coo_tensor.i64.1"(%path, %i27) : (!tfrt.string, i32) -> !t.tensor
  %c27 = tfrt_dht.print_tensor %t27, %c26
  %i28 = tfrt.constant.i32 28
  %t28 = "btf.read_dense_tensor.i64.2"(%path, %i28) : (!tfrt.string, i32) -> !t.tensor
  %c28 = tfrt_dht.print_tensor %t28, %c27
  %i29 = tfrt.constant.i32 29
  %t29 = "btf.read_coo_tensor.i64.2"(%path, %i29) : (!tfrt.string, i32) -> !t.tensor
  %c29 = tfrt_dht.print_tensor %t29, %c28
  %i30 = tfrt.constant.i32 30
  %t30 = "btf.read_dense_tensor.i64.3"(%path, %i30) : (!tfrt.string, i32) -> !t.tensor
  %c30 = tfrt_dht.print_tensor %t30, %c29
  %i31 = tfrt.constant.i32 31
  %t31 = "btf.read_coo_tensor.i64.3"(%path, %i31) : (!tfrt.string, i32) -> !t.tensor
  %c31 = tfrt_dht.print_tensor %t31, %c30
  %i32 = tfrt.constant.i32 32
  %t32 = "btf.read_dense_tensor.i64.4"(%path, %i32) : (!tfrt.string, i32) -> !t.tensor
  %c32 = tfrt_dht.print_tensor %t32, %c31
  %i33 = tfrt.constant.i32 33
  %t33 = "btf.read_coo_tensor.i64.4"(%path, %i33) : (!tfrt.string, i32) -> !t.tensor
  %c33 = tfrt_dht.print_tensor %t33, %c32
  %i34 = tfrt.constant.i32 34
  %t34 = "btf.read_dense_tensor.i64.5"(%path, %i34) : (!tfrt.string, i32) -> !t.tensor
  %c34 = tfrt_dht.print_tensor %t34, %c33
  %i35 = tfrt.constant.i32 35
  %t35 = "btf.read_coo_tensor.i64.5"(%path, %i35) : (!tfrt.string, i32) -> !t.tensor
  %c35 = tfrt_dht.print_tensor %t35, %c34
  tfrt.return %c35 : !tfrt.chain
}

func @i8() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %path = tfrt_test.get_string {value = "every_type_and_rank.btf"}
  %i36 = tfrt.constant.i32 36
  %t36 = "btf.read_dense_tensor.i8.0"(%path, %i36) : (!tfrt.string, i32) -> !t.tensor
  %c36 = tfrt_dht.print_tensor %t36, %ch
  %i37 = tfrt.constant.i32 37
  %t37 = "btf.read_coo_tensor.i8.0"(%path, %i37) : (!tfrt.string, i32) -> !t.tensor
  %c37 = tfrt_dht.print_tensor %t37, %c36
  %i38 = tfrt.constant.i32 38
  %t38 = "btf.read_dense_tensor.i8.1"(%path, %i38) : (!tfrt.string, i32) -> !t.tensor
  %c38 = tfrt_dht.print_tensor %t38, %c37
  %i39 = tfrt.constant.i32 39
  %t39 = "btf.read_coo_tensor.i8.1"(%path, %i39) : (!tfrt.string, i32) -> !t.tensor
  %c39 = tfrt_dht.print_tensor %t39, %c38
  %i40 = tfrt.constant.i32 40
  %t40 = "btf.read_dense_tensor.i8.2"(%path, %i40) : (!tfrt.string, i32) -> !t.tensor
  %c40 = tfrt_dht.print_tensor %t40, %c39
  %i41 = tfrt.constant.i32 41
  %t41 = "btf.read_coo_tensor.i8.2"(%path, %i41) : (!tfrt.string, i32) -> !t.tensor
  %c41 = tfrt_dht.print_tensor %t41, %c40
  %i42 = tfrt.constant.i32 42
  %t42 = "btf.read_dense_tensor.i8.3"(%path, %i42) : (!tfrt.string, i32) -> !t.tensor
  %c42 = tfrt_dht.print_tensor %t42, %c41
  %i43 = tfrt.constant.i32 43
  %t43 = "btf.read_coo_tensor.i8.3"(%path, %i43) : (!tfrt.string, i32) -> !t.tensor
  %c43 = tfrt_dht.print_tensor %t43, %c42
  %i44 = tfrt.constant.i32 44
  %t44 = "btf.read_dense_tensor.i8.4"(%path, %i44) : (!tfrt.string, i32) -> !t.tensor
  %c44 = tfrt_dht.print_tensor %t44, %c43
  %i45 = tfrt.constant.i32 45
  %t45 = "btf.read_coo_tensor.i8.4"(%path, %i45) : (!tfrt.string, i32) -> !t.tensor
  %c45 = tfrt_dht.print_tensor %t45, %c44
  %i46 = tfrt.constant.i32 46
  %t46 = "btf.read_dense_tensor.i8.5"(%path, %i46) : (!tfrt.string, i32) -> !t.tensor
  %c46 = tfrt_dht.print_tensor %t46, %c45
  %i47 = tfrt.constant.i32 47
  %t47 = "btf.read_coo_tensor.i8.5"(%path, %i47) : (!tfrt.string, i32) -> !t.tensor
  %c47 = tfrt_dht.print_tensor %t47, %c46
  tfrt.return %c47 : !tfrt.chain
}

func @ui8() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %path = tfrt_test.get_string {value = "every_type_and_rank.btf"}
  %i48 = tfrt.constant.i32 48
  %t48 = "btf.read_dense_tensor.ui8.0"(%path, %i48) : (!tfrt.string, i32) -> !t.tensor
  %c48 = tfrt_dht.print_tensor %t48, %ch
  %i49 = tfrt.constant.i32 49
  %t49 = "btf.read_coo_tensor.ui8.0"(%path, %i49) : (!tfrt.string, i32) -> !t.tensor
  %c49 = tfrt_dht.print_tensor %t49, %c48
  %i50 = tfrt.constant.i32 50
  %t50 = "btf.read_dense_tensor.ui8.1"(%path, %i50) : (!tfrt.string, i32) -> !t.tensor
  %c50 = tfrt_dht.print_tensor %t50, %c49
  %i51 = tfrt.constant.i32 51
  %t51 = "btf.read_coo_tensor.ui8.1"(%path, %i51) : (!tfrt.string, i32) -> !t.tensor
  %c51 = tfrt_dht.print_tensor %t51, %c50
  %i52 = tfrt.constant.i32 52
  %t52 = "btf.read_dense_tensor.ui8.2"(%path, %i52) : (!tfrt.string, i32) -> !t.tensor
  %c52 = tfrt_dht.print_tensor %t52, %c51
  %i53 = tfrt.constant.i32 53
  %t53 = "btf.read_coo_tensor.ui8.2"(%path, %i53) : (!tfrt.string, i32) -> !t.tensor
  %c53 = tfrt_dht.print_tensor %t53, %c52
  %i54 = tfrt.constant.i32 54
  %t54 = "btf.read_dense_tensor.ui8.3"(%path, %i54) : (!tfrt.string, i32) -> !t.tensor
  %c54 = tfrt_dht.print_tensor %t54, %c53
  %i55 = tfrt.constant.i32 55
  %t55 = "btf.read_coo_tensor.ui8.3"(%path, %i55) : (!tfrt.string, i32) -> !t.tensor
  %c55 = tfrt_dht.print_tensor %t55, %c54
  %i56 = tfrt.constant.i32 56
  %t56 = "btf.read_dense_tensor.ui8.4"(%path, %i56) : (!tfrt.string, i32) -> !t.tensor
  %c56 = tfrt_dht.print_tensor %t56, %c55
  %i57 = tfrt.constant.i32 57
  %t57 = "btf.read_coo_tensor.ui8.4"(%path, %i57) : (!tfrt.string, i32) -> !t.tensor
  %c57 = tfrt_dht.print_tensor %t57, %c56
  %i58 = tfrt.constant.i32 58
  %t58 = "btf.read_dense_tensor.ui8.5"(%path, %i58) : (!tfrt.string, i32) -> !t.tensor
  %c58 = tfrt_dht.print_tensor %t58, %c57
  %i59 = tfrt.constant.i32 59
  %t59 = "btf.read_coo_tensor.ui8.5"(%path, %i59) : (!tfrt.string, i32) -> !t.tensor
  %c59 = tfrt_dht.print_tensor %t59, %c58
  tfrt.return %c59 : !tfrt.chain
}
