// pipeline: async-ref-counting,async-ref-counting-optimization
// A call owns its arguments.
func.func private @take(!async.token)
func.func @call(%a: !async.token) {
  call @take(%a) : (!async.token) -> ()
  return
}

// A reference that is dropped behind a task is handed to the task.
func.func @handed(%a: !async.token) -> !async.token {
  %t = async.execute {
    %u = async.execute {
      async.await %a : !async.token
      async.yield
    }
    async.yield
  }
  return %t : !async.token
}

// A reference that is needed behind a task stays.
func.func @needed(%a: !async.token) -> !async.token {
  %t = async.execute {
    async.await %a : !async.token
    async.yield
  }
  async.await %a : !async.token
  return %t : !async.token
}
