memref.global "private" @cells : memref<2xi64> = dense<0>
func @put(%i: index, %v: i64) {
  %m = memref.get_global @cells : memref<2xi64>
  memref.store %v, %m[%i] : memref<2xi64>
  return
}
func @main() {
  %rt = async.default_runtime : !async.runtime
  %c0 = constant 0 : index
  %c1 = constant 1 : index
  %a = constant 5 : i64
  %b = constant 7 : i64
  %h1 = async.call %rt : !async.runtime @put(%c0, %a) : (index, i64) -> !async.handle
  %h2 = async.call %rt : !async.runtime @put(%c1, %b) : (index, i64) -> !async.handle
  async.sync_await %h1 : !async.handle
  async.sync_await %h2 : !async.handle
  %m = memref.get_global @cells : memref<2xi64>
  %x = memref.load %m[%c0] : memref<2xi64>
  %y = memref.load %m[%c1] : memref<2xi64>
  call @show(%x) : (i64) -> ()
  call @show(%y) : (i64) -> ()
  %s = addi %x, %y : i64
  call @show(%s) : (i64) -> ()
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
