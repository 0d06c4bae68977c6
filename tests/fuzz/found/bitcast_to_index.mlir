func.func @main(%x: i64) -> index {
  %y = arith.bitcast %x : i64 to index
  return %y : index
}
