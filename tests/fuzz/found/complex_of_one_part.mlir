func @dense() -> !t.tensor {
  %d = "tfrt_test.const_dense_attr"() {value = dense<-7> : tensor<complex<f32>>} : () -> !t.tensor
  tfrt.return %d : !t.tensor
}
