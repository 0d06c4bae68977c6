func.func @main() -> i8 {
  %zero = arith.constant 0 : index
  %large = memref.alloc() : memref<4294967296xi8>
  %first = memref.load %large[%zero] : memref<4294967296xi8>
  memref.dealloc %large : memref<4294967296xi8>
  return %first : i8
}
