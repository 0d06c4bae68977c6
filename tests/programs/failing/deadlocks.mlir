// What nothing resolves: the message says where it is made, and what waits for it.
func.func @main() {
  %t = async.runtime.create : !async.token
  async.runtime.await %t : !async.token
  return
}
// -----
// The cause is the gate; the task and its token follow from it.
func.func @main() -> i32 {
  %gate = async.runtime.create : !async.value<i32>
  %task, %value = async.execute (%gate as %x: !async.value<i32>) -> !async.value<i32> {
    async.yield %x : i32
  }
  %y = async.await %value : !async.value<i32>
  return %y : i32
}
// -----
async.func @wait(%t: !async.token) -> !async.token {
  async.await %t : !async.token
  return
}
func.func @main() {
  %t = async.runtime.create : !async.token
  %u = async.call @wait(%t) : (!async.token) -> !async.token
  async.await %u : !async.token
  return
}
// -----
// Two tasks wait for each other.
func.func @main() {
  %t = async.runtime.create : !async.token
  %s = async.runtime.create : !async.token
  %u = async.execute {
    async.await %t : !async.token
    async.runtime.set_available %s : !async.token
    async.yield
  }
  %v = async.execute {
    async.await %s : !async.token
    async.runtime.set_available %t : !async.token
    async.yield
  }
  async.await %u : !async.token
  async.await %v : !async.token
  return
}
// -----
// Tasks with equal bodies share code: each is named at its own line.
func.func @main() {
  %t = async.runtime.create : !async.token
  %one = async.execute {
    async.await %t : !async.token
    %n = arith.constant 1 : i32
    vector.print %n : i32
    async.yield
  }
  %two = async.execute {
    async.await %t : !async.token
    %n = arith.constant 1 : i32
    vector.print %n : i32
    async.yield
  }
  async.await %two : !async.token
  return
}
// -----
// A full group waits for its members.
func.func @main() {
  %t = async.runtime.create : !async.token
  %n = arith.constant 1 : index
  %g = async.create_group %n : !async.group
  %r = async.add_to_group %t, %g : !async.token
  async.await_all %g
  return
}
// -----
func.func @main() {
  %n = arith.constant 2 : index
  %g = async.create_group %n : !async.group
  %u = async.execute {
    async.await_all %g
    async.yield
  }
  %r = async.add_to_group %u, %g : !async.token
  async.await %u : !async.token
  return
}
// -----
// A group of which the program never asks for an error.
func.func @main() {
  %n = arith.constant 2 : index
  %g = async.runtime.create_group %n : !async.group
  async.runtime.await %g : !async.group
  return
}
// -----
// What is made in an async function by hand is not the function's own.
async.func @later() -> !async.value<i32> {
  %t = async.runtime.create : !async.token
  async.await %t : !async.token
  %c = arith.constant 3 : i32
  return %c : i32
}
func.func @main() -> i32 {
  %v = async.call @later() : () -> !async.value<i32>
  %x = async.await %v : !async.value<i32>
  return %x : i32
}
// -----
// What is awaited in the body is named there, what the task depends on where it begins.
func.func @main() {
  %s = async.runtime.create : !async.token
  %t = async.runtime.create : !async.value<i32>
  %d = async.execute {
    async.yield
  }
  %u = async.execute [%d] {
    async.await %d : !async.token
    %x = async.await %t : !async.value<i32>
    async.yield
  }
  %w = async.execute [%d, %s] {
    async.await %d : !async.token
    async.yield
  }
  async.await %u : !async.token
  return
}
