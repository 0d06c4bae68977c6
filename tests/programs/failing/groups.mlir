// Groups that have fewer or more members than they were made for, or that wait for each other.
func.func @main() {
  %two = arith.constant 2 : index
  %t = async.execute {
    %g = async.create_group %two : !async.group
    %u = async.execute {
      async.yield
    }
    %r = async.add_to_group %u, %g : !async.token
    async.await_all %g
    async.yield
  }
  async.await %t : !async.token
  return
}
// -----
func.func @main() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %t = async.execute {
    async.yield
  }
  %u = async.execute {
    async.yield
  }
  %a = async.add_to_group %t, %g : !async.token
  %b = async.add_to_group %u, %g : !async.token
  async.await_all %g
  return
}
// -----
// No task awaits it.
func.func @main() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %t = async.execute {
    async.yield
  }
  %u = async.execute {
    async.yield
  }
  %a = async.add_to_group %t, %g : !async.token
  %b = async.add_to_group %u, %g : !async.token
  return
}
// -----
// The task is started into a full group.
func.func @main() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %t = async.execute {
    async.yield
  }
  %a = async.add_to_group %t, %g : !async.token
  %u = async.execute {
    async.yield
  }
  %b = async.add_to_group %u, %g : !async.token
  return
}
// -----
func.func @main() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %h = async.create_group %one : !async.group
  %t = async.execute {
    async.await_all %h
    async.yield
  }
  %u = async.execute {
    async.await_all %g
    async.yield
  }
  %a = async.add_to_group %t, %g : !async.token
  %b = async.add_to_group %u, %h : !async.token
  async.await_all %g
  return
}
