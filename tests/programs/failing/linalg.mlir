func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.copy ins(%m : memref<?xf32>) outs(%n : memref<?xf32>)
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.copy ins(%m : memref<?xf32>) outs(%b : memref<3xf32>)
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.copy ins(%a : memref<2xf32>) outs(%b : memref<3xf32>)
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %f = arith.constant 2.0 : f32
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.fill ins(%f : f32) outs(%c : memref<2xindex>)
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %f = arith.constant 2.0 : f32
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  %t = arith.constant dense<1.0> : tensor<3xf32>
  %r = linalg.fill ins(%f : f32) outs(%t : tensor<3xf32>) -> tensor<3xf32>
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i + 1)>],
                  iterator_types = ["parallel"]}
    ins(%m : memref<?xf32>) outs(%n : memref<?xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2)>],
                  iterator_types = ["parallel"]}
    ins(%m : memref<?xf32>) outs(%n : memref<?xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i floordiv 2 + i)>],
                  iterator_types = ["parallel"]}
    ins(%n : memref<?xf32>) outs(%n : memref<?xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i mod 2)>],
                  iterator_types = ["parallel"]}
    ins(%m : memref<?xf32>) outs(%n : memref<?xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["serial"]}
    outs(%n : memref<?xf32>) {
  ^bb0(%x: f32):
    linalg.yield %x : f32
  }
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %f = arith.constant 2.0 : f32
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    outs(%n : memref<?xf32>) {
  ^bb0(%x: f32):
    linalg.yield %f, %f : f32, f32
  }
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    outs(%n : memref<?xf32>) {
  ^bb0(%x: f32):
    linalg.yield %i2 : index
  }
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.generic 5 outs(%m : memref<?xf32>) {
  ^bb0(%x: f32):
    linalg.yield %x : f32
  }
  return
}
// -----
func.func @main() {
  %i2 = arith.constant 2 : index
  %i3 = arith.constant 3 : index
  %m = memref.alloc(%i2) : memref<?xf32>
  %n = memref.alloc(%i3) : memref<?xf32>
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloc() : memref<3xf32>
  %c = memref.alloc() : memref<2xindex>
  // buffers only
  linalg.generic {indexing_maps = 5, iterator_types = ["parallel"]} outs(%m : memref<?xf32>) {
  ^bb0(%x: f32):
    linalg.yield %x : f32
  }
  return
}
// -----
// `arith` cannot convert between these types, which have the same width.
func.func @main() {
  %x = arith.constant 1.5 : f16
  %m = memref.alloc() : memref<2xbf16>
  linalg.fill ins(%x : f16) outs(%m : memref<2xbf16>)
  return
}
