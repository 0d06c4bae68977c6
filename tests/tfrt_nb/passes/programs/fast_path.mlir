// pipeline: builtin.module(async-fast-path)
// A recursive function that waits for itself only gets a form without objects, and a continuation for each first
// await: from there on, what was called goes on elsewhere.
async.func @fib(%n: i64) -> !async.value<i64> {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %is_small = arith.cmpi slt, %n, %two : i64
  cf.cond_br %is_small, ^small, ^big
^small:
  return %n : i64
^big:
  %a = arith.subi %n, %one : i64
  %v = async.call @fib(%a) : (i64) -> !async.value<i64>
  %b = arith.subi %n, %two : i64
  %w = async.call @fib(%b) : (i64) -> !async.value<i64>
  %x = await %v : !async.value<i64>
  %y = await %w : !async.value<i64>
  %r = arith.addi %x, %y : i64
  return %r : i64
}

// Tokens have handles, too; calls in branches are found; two functions may call each other.
func.func private @printI64(i64)
async.func @even(%n: i64) -> (!async.token, !async.value<i1>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_zero = arith.cmpi eq, %n, %zero : i64
  %m = arith.subi %n, %one : i64
  %r = scf.if %is_zero -> (i1) {
    scf.yield %is_zero : i1
  } else {
    %t, %v = async.call @odd(%m) : (i64) -> (!async.token, !async.value<i1>)
    func.call @printI64(%n) : (i64) -> ()
    await %t : !async.token
    func.call @printI64(%m) : (i64) -> ()
    %x = await %v : !async.value<i1>
    scf.yield %x : i1
  }
  return %r : i1
}
async.func @odd(%n: i64) -> (!async.token, !async.value<i1>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_zero = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %is_zero, ^end(%is_zero : i1), ^deeper
^deeper:
  %m = arith.subi %n, %one : i64
  %t, %v = async.call @even(%m) : (i64) -> (!async.token, !async.value<i1>)
  cf.br ^wait
^wait:
  %x = await %v : !async.value<i1>
  cf.br ^end(%x : i1)
^end(%r: i1):
  return %r : i1
}

// Left as they are: those that wait for something else, call themselves in a loop, or hand a result on.
async.func @with_a_task(%n: i64) -> !async.value<i64> {
  %v = async.call @with_a_task(%n) : (i64) -> !async.value<i64>
  %t = async.execute {
    async.yield
  }
  await %t : !async.token
  %x = await %v : !async.value<i64>
  return %x : i64
}
async.func @in_a_loop(%n: index) -> !async.token {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  cf.br ^loop(%zero : index)
^loop(%i: index):
  %t = async.call @in_a_loop(%i) : (index) -> !async.token
  await %t : !async.token
  %j = arith.addi %i, %one : index
  %more = arith.cmpi slt, %j, %n : index
  cf.cond_br %more, ^loop(%j : index), ^end
^end:
  return
}
async.func @grouped(%n: i64, %g: !async.group) -> !async.token {
  %t = async.call @grouped(%n, %g) : (i64, !async.group) -> !async.token
  %rank = async.add_to_group %t, %g : !async.token
  return
}
