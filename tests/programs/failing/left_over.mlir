// A value that is loaded before it is available; what is made by hand stays behind.
func.func @main() -> i64 {
  %v = async.runtime.create : !async.value<i64>
  %x = async.runtime.load %v : <i64>
  async.runtime.store %x, %v : <i64>
  async.runtime.set_available %v : !async.value<i64>
  return %x : i64
}
// -----
async.func @main() -> !async.value<i64> {
  %v = async.runtime.create : !async.value<i64>
  %x = async.runtime.load %v : <i64>
  async.runtime.store %x, %v : <i64>
  async.runtime.set_available %v : !async.value<i64>
  return %x : i64
}
