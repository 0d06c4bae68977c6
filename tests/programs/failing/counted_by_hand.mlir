// Tokens that a program resolves and counts itself; what it drops after an assertion is dropped when that fails.
func.func @main() {
  %t = async.runtime.create : !async.token
  async.runtime.set_available %t : !async.token
  async.runtime.set_available %t : !async.token
  return
}
// -----
func.func @main() {
  %t = async.runtime.create : !async.token
  async.runtime.set_available %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}
// -----
// Awaits are counted: the program's own references are on top of these.
func.func @main() {
  %t = async.runtime.create : !async.token
  async.runtime.set_available %t : !async.token
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}
// -----
func.func @main() {
  %t = async.runtime.create : !async.token
  %no = arith.constant false
  async.runtime.set_available %t : !async.token
  cf.assert %no, "no"
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}
// -----
func.func @main() {
  %t = async.runtime.create : !async.token
  %no = arith.constant false
  async.runtime.set_available %t : !async.token
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  async.await %t : !async.token
  cf.assert %no, "no"
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}
// -----
func.func @main() {
  %t = async.runtime.create : !async.token
  %no = arith.constant false
  %yes = arith.constant true
  async.runtime.set_available %t : !async.token
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  func.call @may_fail(%yes) : (i1) -> ()
  func.call @may_fail(%no) : (i1) -> ()
  func.call @may_fail(%yes) : (i1) -> ()
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

func.func @may_fail(%ok: i1) {
  cf.assert %ok, "no"
  return
}
// -----
func.func @main() {
  %t = async.execute {
    async.yield
  }
  async.await %t : !async.token
  async.drop_ref %t {count = 1 : i32} : !async.token
  async.drop_ref %t {count = 1 : i32} : !async.token
  return
}
// -----
func.func @main() {
  %t = async.execute {
    async.yield
  }
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}
