async.func @even(%n: i64) -> (!async.token, !async.value<i1>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = arith.constant true
  %done = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %done, ^yes, ^no
^yes:
  return %t : i1
^no:
  %m = arith.subi %n, %one : i64
  %k, %v = async.call @odd(%m) : (i64) -> (!async.token, !async.value<i1>)
  %x = await %v : !async.value<i1>
  return %x : i1
}
async.func @odd(%n: i64) -> (!async.token, !async.value<i1>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %f = arith.constant false
  %done = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %done, ^yes, ^no
^yes:
  return %f : i1
^no:
  %m = arith.subi %n, %one : i64
  %k, %v = call @even(%m) : (i64) -> (!async.token, !async.value<i1>)
  %x = await %v : !async.value<i1>
  return %x : i1
}
func.func @main() {
  %a = arith.constant 1000 : i64
  %b = arith.constant 777 : i64
  %t, %v = async.call @even(%a) : (i64) -> (!async.token, !async.value<i1>)
  %u, %w = async.call @even(%b) : (i64) -> (!async.token, !async.value<i1>)
  %x = async.await %v : !async.value<i1>
  %y = async.await %w : !async.value<i1>
  %p = arith.extui %x : i1 to i64
  %q = arith.extui %y : i1 to i64
  call @printI64(%p) : (i64) -> ()
  call @printNewline() : () -> ()
  call @printI64(%q) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
