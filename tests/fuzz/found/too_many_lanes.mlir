func.func @main(%x: vector<100000xf32>) -> vector<100000xf32> {
  return %x : vector<100000xf32>
}
