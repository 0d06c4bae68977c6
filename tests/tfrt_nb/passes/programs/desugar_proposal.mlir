// pipeline: async-desugar-proposal

// The first example of the seed is an async function with two tasks.
func @computation_1() { return }
func @computation_2() { return }
func @computation_3() { return }

func @async_compute(%arg0: !async.runtime) -> !async.handle {
  %hdl1 = async.call %arg0 : !async.runtime 
          @computation_1() : () -> !async.handle

  %hdl2 = async.call %arg0 : !async.runtime 
          @computation_2() : () -> !async.handle

  async.await %hdl1 : !async.handle
  async.await %hdl2 : !async.handle

  call @computation_3(): () -> ()

  %hdl3 = async.ret_handle : !async.handle
  return %hdl3 : !async.handle
}

// A region with a value gives the value and then the token.
func.func @f1(%x: i64) -> i64 {
  %v, %t = async.region {
    async.yield %x : i64
  }
  async.await %t
  %y = async.await %v : !async.value<i64>
  return %y : i64
}

// A handle that is used otherwise than returned is a token that something resolves.
func @f2(%rt: !async.runtime) -> !async.handle {
  %h = async.ret_handle : !async.handle
  call @finish(%h) : (!async.handle) -> ()
  return %h : !async.handle
}
func @finish(%h: !async.handle) {
  async.emplace_handle %h
  return
}

// A coroutine that returns another handle waits for it first.
func @f3(%rt: !async.runtime, %c: i1, %other: !async.handle) -> !async.handle {
  cf.cond_br %c, ^own, ^other
^own:
  %h = async.ret_handle : !async.handle
  return %h : !async.handle
^other:
  return %other : !async.handle
}
