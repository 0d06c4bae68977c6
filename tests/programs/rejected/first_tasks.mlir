// What the first compiled programs and tasks of a learner have wrong.
func.func @main() -> i32 {
  %t, %v = async.execute -> i32 {
    %c = arith.constant 1 : i32
    async.yield %c : i32
  }
  %x = async.await %v : !async.value<i32>
  return %x : i32
}
// -----
func.func @main() -> i32 {
  %v = async.execute -> !async.value<i32> {
    %c = arith.constant 1 : i32
    async.yield %c : i32
  }
  %x = async.await %v : !async.value<i32>
  return %x : i32
}
// -----
func.func @main() -> i32 {
  %t, %v = async.execute -> !async.value<i32> {
    %c = arith.constant 1 : i32
    async.yield
  }
  %x = async.await %v : !async.value<i32>
  return %x : i32
}
// -----
func.func @main() {
  %t = async.execute {
    %c = arith.constant 1 : i32
    async.yield %c : i32
  }
  return
}
// -----
func.func @main() {
  %t, %v = async.execute -> !async.value<i32> {
    %c = arith.constant 1.0 : f32
    async.yield %c : f32
  }
  return
}
// -----
func.func @main() -> i32 {
  %t = async.execute {
    %c = arith.constant 1 : i32
    async.yield
  }
  return %c : i32
}
// -----
func.func @main() {
  %t = async.execute {
    return
  }
  return
}
// -----
func.func @main() {
  async.yield
}
// -----
func.func @main() {
  %t = async.execute (%x) { async.yield }
  return
}
// -----
func.func @main() {
  %t, %v = async.execute -> !async.value<i32> {
    %c = arith.constant 1 : i32
    async.yield %c : i32
  }
  %u = async.execute [%v] { async.yield }
  return
}
// -----
func.func @main() {
  %t, %v = async.execute -> !async.value<i32> {
    %c = arith.constant 1 : i32
    async.yield %c : i32
  }
  %u = async.execute (%v as %x: i32) { async.yield }
  return
}
// -----
func.func @main() {
  %c1 = arith.constant 1 : index
  %g = async.create_group %c1
  return
}
// -----
func.func @main() {
  %c1 = arith.constant 1 : index
  %g = async.create_group %c1 : !async.group
  %t = async.execute { async.yield }
  async.add_to_group %g, %t : !async.token
  return
}
// -----
func.func @main() {
  %c1 = arith.constant 1 : index
  %g = async.create_group %c1 : !async.group
  async.await %g : !async.group
  return
}
// -----
async.func @f() -> i32 {
  %c = arith.constant 1 : i32
  return %c : i32
}
// -----
async.func @f() -> !async.value<i32> {
  %c = arith.constant 1 : i32
  async.yield %c : i32
}
func.func @main() { return }
// -----
async.func @f() -> !async.value<i32> {
  %c = arith.constant 1 : i32
  return %c : i32
}
func.func @main() -> i32 {
  %x = async.call @f() : () -> i32
  return %x : i32
}
// -----
async.func @f() -> !async.value<i32> {
  %c = arith.constant 1 : i32
  return %c : i32
}
func.func @main() -> i32 {
  %x = call @f() : () -> !async.value<i32>
  %y = async.await %x : !async.value<i32>
  return %y : i32
}
// -----
func.func @f() -> i32 {
  %c = arith.constant 1 : i32
  return %c : i32
}
func.func @main() -> i32 {
  %x = async.call @f() : () -> !async.value<i32>
  %y = async.await %x : !async.value<i32>
  return %y : i32
}
// -----
func.func @main() -> i32 {
  %x = async.call @g() : () -> !async.value<i32>
  %y = async.await %x : !async.value<i32>
  return %y : i32
}
// -----
func.func @main() {
  %a = arith.constant 1 : i32
  %b = arith.addi %a, %a
  return
}
// -----
func.func @main() {
  %a = arith.constant 1 : i32
  %b = arith.cmpi %a, %a : i32
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<?xi32>
  return
}
// -----
func.func @f(%x: i32) -> i32 { tfrt.return %x : i32 }
func.func @main() -> i32 {
  %n = arith.constant 1 : i32
  %r = call @f(%n) : (i32) -> i32
  return %r : i32
}
// -----
func.func @main() -> i32 {
  %n = arith.constant 1 : i32
  cf.br ^end(%n)
^end(%x: i32):
  return %x : i32
}
// -----
func.func @main() {
  %v = async.runtime.create : !async.value<i32>
  %n = arith.constant 1 : i32
  async.runtime.store %v, %n : !async.value<i32>
  return
}
// -----
func.func @f(%x: i32) -> i32 { tfrt.return %x : i32 }
func.func @main() -> i32 {
  %n = arith.constant 1 : i32
  %g = func.constant @f : (i32) -> i32
  %r = call_indirect %g(%n) : (i32) -> i32
  return %r : i32
}
// -----
func.func @f(%x: i32) -> i32 { 
   %y = tfrt.add.i32 %x, %x
   tfrt.return %y : i32 }
func.func @main() -> i32 {
  %n = arith.constant 1 : i32
  %t, %v = async.execute -> !async.value<i32> {
    %r = func.call @f(%n) : (i32) -> i32
    async.yield %r : i32
  }
  %r = async.await %v : !async.value<i32>
  return %r : i32
}
// -----
func.func @f(%x: i32) -> i32 attributes {tfrt.sync} { 
   %y = tfrt.add_s.i32 %x, %x
   tfrt.return %y : i32 }
func.func @main() -> i32 {
  %n = arith.constant 1 : i32
  %r = func.call @f(%n) : (i32) -> i32
  return %r : i32
}
// -----
func.func @main() {
  %t = async.execute {
    %d = arith.constant 1 : i32
    async.yield
  }
  async.execute {
    vector.print %d : i32
    async.yield
  }
  return
}
// -----
async.func @f(%x: i32) -> !async.value<i32> {
  return %x : i32
}
func.func @main() {
  %c = arith.constant 1 : i32
  %r = async.call @f(%c, %c) : (i32, i32) -> !async.value<i32>
  return
}
// -----
async.func @f(%x: i32) -> !async.value<i32> {
  return %x : i32
}
func.func @main() {
  %c = arith.constant 1 : i32
  %r = async.call @f(%c) : (i32) -> !async.value<i64>
  return
}
// -----
async.func @f(%x: i32) -> !async.value<i32> {
  %y = arith.constant 1.0 : f32
  return %y : f32
}
// -----
async.func @f(%x: i32) -> !async.value<i32> {
  return
}
// -----
func.func @main() {
  %m = memref.alloc() : memref<3xint>
  return
}
// -----
func.func @main() -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.constant 0 : i32
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%s) -> (i32) {
    scf.yield %s : i32
  }
  return %r : i32
}
// -----
func.func @show(%x: i64) {
  return
}
func.func @in_a_task(%x: i64) {
  %t = async.execute {
    call @show(%x) : (i64) -> ()
    async.yield
  }
  return
}
// -----
func.func @show(%x: i64) {
  return
}
func.func @without_a_call(%x: i64) {
  show %x
  return
}
func.func @without_types(%x: i64) {
  call @show(%x)
  return
}
func.func @without_a_dialect(%x: !async.value<i64>) {
  %y = await %x : !async.value<i64>
  return
}
func.func @an_expression(%x: i64) {
  %y = %x + 1
  return
}
// -----
func.func @show(%x: i64) {
  return
}
func.func @named_without_results(%x: i64) {
  %y = async.call @show(%x) : (i64) -> ()
  return
}
// -----
func.func @without_a_type(%x: !async.token) {
  async.runtime.set_available %x
  return
}
// -----
func.func @the_discussion_of_the_proposal_asked_for_this_name() {
  %t = async.invoke {
    async.yield
  }
  return
}
// -----
func.func @without_an_end() {
  %t = async.region { }
  %u = async.run { }
  %v = async.execute { }
  return
}
// -----
func.func @yields_without_a_type() {
  %c = arith.constant 1 : i32
  %v, %t = async.region {
    async.yield %c
  }
  return
}
// -----
func.func @as_the_discussion_writes_it(%n: index) {
  scf.parallel_for (%i) = (%n) to (%n) step (%n) {
  }
  return
}
// -----
func.func @yields_an_element(%n: index, %x: f32) {
  %m, %done = async.parallel_for (%i) = (%n) to (%n) step (%n) {
    async.yield %x : f32
  } : memref<?xf32>, !async.handle
  return
}
// -----
func.func @yields_nothing(%n: index) {
  %m, %done = async.parallel_for (%i) = (%n) to (%n) step (%n) {
  } : memref<?xf32>, !async.handle
  return
}
// -----
func.func @yields_a_buffer_of_each_iteration(%n: index) {
  %m, %done = async.parallel_for (%i) = (%n) to (%n) step (%n) {
    %k = memref.alloc(%n) : memref<?xf32>
    async.yield %k : memref<?xf32>
  } : memref<?xf32>, !async.handle
  return
}
// -----
func.func @gives_another_buffer(%n: index, %k: memref<?xf32>) {
  %m, %done = "async.parallel_for"(%k) ({
    async.yield
  }) : (memref<?xf32>) -> (memref<4xf32>, !async.handle)
  return
}
