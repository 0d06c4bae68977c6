// pipeline: builtin.module(convert-async-to-llvm)
func.func private @two(index, !async.token) -> (!async.token, index, !async.token)
func.func private @noasync(index) -> (index, index)
func.func @a(%u: !async.token, %n: index, %t: !async.token, %v: !async.value<index>) -> (index, !async.token) attributes {foo = 1 : i64} {
  %x:3 = call @two(%n, %t) {attr = 1 : i32} : (index, !async.token) -> (!async.token, index, !async.token)
  "test.op"(%u, %t, %x#2, %x#0, %x#1) : (!async.token, !async.token, !async.token, !async.token, index) -> ()
  %y:2 = call @noasync(%x#1) {attr = 1 : i32} : (index) -> (index, index)
  %g1 = async.runtime.create_group %y#1 : !async.group
  %g2 = async.runtime.create_group %y#0 : !async.group
  %g3 = async.runtime.create_group %x#1 : !async.group
  %w = async.runtime.num_worker_threads : index
  %g4 = async.runtime.create_group %w : !async.group
  %r = async.runtime.add_to_group %t, %g1 : !async.token
  %g5 = async.runtime.create_group %r : !async.group
  async.runtime.store %r, %v : <index>
  async.runtime.store %w, %v : <index>
  %l = async.runtime.load %v : <index>
  %x1:3 = call @two(%l, %t) {attr = 1 : i32} : (index, !async.token) -> (!async.token, index, !async.token)
  %x2:3 = call @two(%w, %t) {attr = 1 : i32} : (index, !async.token) -> (!async.token, index, !async.token)
  %y2:2 = call @noasync(%l) {attr = 1 : i32} : (index) -> (index, index)
  return %l, %x1#2 : index, !async.token
}
func.func @found_once(%n: index, %m: memref<?x3xf32>, %u: memref<*xf32>) {
  %c = async.runtime.create_group %n : !async.group
  %d = async.runtime.create_group %n : !async.group
  %v = async.runtime.create : !async.value<memref<?x3xf32>>
  %w = async.runtime.create : !async.value<memref<*xf32>>
  async.runtime.store %m, %v : <memref<?x3xf32>>
  async.runtime.store %m, %v : <memref<?x3xf32>>
  async.runtime.store %u, %w : <memref<*xf32>>
  %l = async.runtime.load %v : <memref<?x3xf32>>
  %s = arith.addi %n, %n : index
  %x = arith.constant 4 : index
  %e = async.runtime.create_group %s : !async.group
  %f = async.runtime.create_group %x : !async.group
  %g = async.runtime.create_group %x : !async.group
  %i = async.runtime.create : !async.value<index>
  %li = async.runtime.load %i : <index>
  %h = async.runtime.create_group %li : !async.group
  memref.dealloc %l : memref<?x3xf32>
  %s1 = arith.addi %li, %li : index
  cf.br ^bb1(%s1 : index)
^bb1(%p: index):
  %h1 = async.runtime.create_group %p : !async.group
  %h2 = async.runtime.create_group %s1 : !async.group
  %s2 = arith.addi %li, %s1 : index
  return
}
func.func @operations_that_stay(%u: !async.token, %n: index, %t: !async.token, %m : index) {
  %g1 = async.runtime.create_group %m : !async.group
  "test.op"(%t, %u, %g1) : (!async.token, !async.token, !async.group) -> ()
  %g2 = async.runtime.create_group %n : !async.group
  %z = "test.op"(%u, %u) : (!async.token, !async.token) -> (!async.token)
  async.runtime.await %z : !async.token
  async.runtime.await %z : !async.token
  return
}
func.func @results_that_stay(%u: !async.token {foo.bar}, %n: index {foo.bar = 1}) {
  %y:2 = "test.op"() : () -> (!async.token, index)
  %z = "test.op"() : () -> (index)
  async.runtime.await %y#0 : !async.token
  %g1 = async.runtime.create_group %y#1 : !async.group
  %g2 = async.runtime.create_group %z : !async.group
  return
}
func.func @unused(%t: !async.token) -> !async.token  {
  %v = async.runtime.create : !async.value<index>
  %l = async.runtime.load %v : <index>
  %l2 = async.runtime.load %v : <index>
  %l3 = async.runtime.load %v : <index>
  async.runtime.store %l3, %v : <index>
  "test.op"(%l2, %l3) : (index, index) -> ()
  return %t : !async.token
}
func.func private @mlirAsyncRuntimeAddRef(!llvm.ptr, i64) attributes {foo.bar}
llvm.func @mlirAsyncRuntimeDropRef(!llvm.ptr, i64) 
func.func @used_before_in_the_text(%t: !async.token, %n: index) {
  cf.br ^bb2
^bb1:
  %g = async.runtime.create_group %s : !async.group
  async.runtime.await %u : !async.token
  async.runtime.await %g : !async.group
  return
^bb2:
  %s = arith.addi %n, %n : index
  %h = async.runtime.create_group %n : !async.group
  %u = async.runtime.create : !async.token
  cf.br ^bb1
}
func.func @folded_to_an_argument(%t: !async.token, %u: !async.token, %n: index) {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %s = arith.select %true, %t, %u : !async.token
  %v = async.runtime.create : !async.value<index>
  %l = async.runtime.load %v : <index>
  %m = arith.addi %l, %c0 : index
  %k = arith.addi %m, %c0 : index
  %o = arith.addi %n, %c0 : index
  %g = async.runtime.create_group %m : !async.group
  %h = async.runtime.create_group %o : !async.group
  %i = async.runtime.create_group %k : !async.group
  "test.op"(%s, %m, %k, %o) : (!async.token, index, index, index) -> ()
  async.runtime.await %s : !async.token
  return
}
