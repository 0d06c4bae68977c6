// pipeline: builtin.module(cse)
// Equal operations, in any order of operands where that does not matter; loads with nothing in between.
func.func private @use(i32)
func.func @f(%x: i32, %y: i32, %c: i1, %m: memref<4xi32>, %i: index) {
  %a = arith.addi %x, %y : i32
  %b = arith.addi %y, %x : i32
  %d = arith.subi %y, %x : i32
  %e = arith.subi %x, %y : i32
  func.call @use(%a) : (i32) -> ()
  func.call @use(%b) : (i32) -> ()
  func.call @use(%d) : (i32) -> ()
  func.call @use(%e) : (i32) -> ()
  %l = memref.load %m[%i] : memref<4xi32>
  %k = memref.load %m[%i] : memref<4xi32>
  memref.store %l, %m[%i] : memref<4xi32>
  %j = memref.load %m[%i] : memref<4xi32>
  func.call @use(%k) : (i32) -> ()
  func.call @use(%j) : (i32) -> ()
  %unused = arith.muli %x, %y : i32
  %g = async.create_group %i : !async.group
  %h = async.create_group %i : !async.group
  async.await_all %g
  async.await_all %h
  %t = async.execute {
    %n = arith.addi %x, %y : i32
    %o = arith.muli %x, %x : i32
    func.call @use(%n) : (i32) -> ()
    func.call @use(%o) : (i32) -> ()
    async.yield
  }
  %p = arith.muli %x, %x : i32
  func.call @use(%p) : (i32) -> ()
  %q = scf.if %c -> (i32) {
    %r = arith.addi %x, %p : i32
    scf.yield %r : i32
  } else {
    scf.yield %x : i32
  }
  %s = scf.if %c -> (i32) {
    %r = arith.addi %x, %p : i32
    scf.yield %r : i32
  } else {
    scf.yield %x : i32
  }
  func.call @use(%q) : (i32) -> ()
  func.call @use(%s) : (i32) -> ()
  cf.cond_br %c, ^a, ^b
^a:
  %u = arith.shli %x, %y : i32
  func.call @use(%u) : (i32) -> ()
  cf.br ^b
^b:
  %v = arith.shli %x, %y : i32
  %w = arith.muli %x, %x : i32
  func.call @use(%v) : (i32) -> ()
  func.call @use(%w) : (i32) -> ()
  return
}
