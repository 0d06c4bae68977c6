func.func @main(%x: i0) -> i0 {
  return %x : i0
}
