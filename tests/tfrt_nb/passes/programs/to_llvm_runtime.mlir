// pipeline: builtin.module(convert-async-to-llvm)
func.func private @ext(!async.token) -> !async.value<f32>
func.func @rt(%t: !async.token, %v: !async.value<f32>, %g: !async.group, %n: index, %f: f32) -> (!async.token, index) {
  %a = async.runtime.create : !async.token
  %b = async.runtime.create : !async.value<f32>
  %b2 = async.runtime.create : !async.value<memref<?xf32>>
  %b3 = async.runtime.create : !async.value<index>
  %b4 = async.runtime.create : !async.value<!async.token>
  %c = async.runtime.create_group %n : !async.group
  async.runtime.set_available %t : !async.token
  async.runtime.set_available %v : !async.value<f32>
  async.runtime.set_error %t : !async.token
  async.runtime.set_error %v : !async.value<f32>
  %e1 = async.runtime.is_error %t : !async.token
  %e2 = async.runtime.is_error %v : !async.value<f32>
  %e3 = async.runtime.is_error %g : !async.group
  async.runtime.await %t : !async.token
  async.runtime.await %v : !async.value<f32>
  async.runtime.await %g : !async.group
  async.runtime.store %f, %v : <f32>
  %l = async.runtime.load %v : <f32>
  %l2 = async.runtime.load %b2 : <memref<?xf32>>
  %l3 = async.runtime.load %b3 : <index>
  %l4 = async.runtime.load %b4 : <!async.token>
  async.runtime.store %l2, %b2 : <memref<?xf32>>
  async.runtime.store %l3, %b3 : <index>
  async.runtime.store %l4, %b4 : <!async.token>
  %r = async.runtime.add_to_group %t, %g : !async.token
  async.runtime.add_ref %t {count = 2 : i64} : !async.token
  async.runtime.drop_ref %g {count = 1 : i64} : !async.group
  %w = async.runtime.num_worker_threads : index
  %x = call @ext(%t) : (!async.token) -> !async.value<f32>
  async.runtime.await %x : !async.value<f32>
  %s = arith.addi %r, %w : index
  %s2 = arith.addi %s, %l3 : index
  return %a, %s2 : !async.token, index
}
