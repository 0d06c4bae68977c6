

func.func
@printMemrefF64(memref<*xf64>)attributes{}
linalg.fill 