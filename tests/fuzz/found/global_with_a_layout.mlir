memref.global @g : memref<4xi64, strided<[2]>> = dense<0>
func.func @f() {
  %m = memref.get_global @g : memref<4xi64, strided<[2]>>
  return
}
