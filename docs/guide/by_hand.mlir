func.func @main() {
  %token = async.runtime.create : !async.token
  async.runtime.set_available %token : !async.token
  async.await %token : !async.token
  async.runtime.drop_ref %token {count = 1 : i64} : !async.token
  return
}
