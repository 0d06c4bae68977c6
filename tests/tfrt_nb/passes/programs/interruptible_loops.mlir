// pipeline: builtin.module(async-interruptible-loops)
// Loops check whether to go on: in each round, once in a piece, or not at all.
func.func @rounds(%n: i64, %step: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i64
  scf.while (%x = %zero) : (i64) -> () {
    %more = arith.cmpi slt, %x, %n : i64
    scf.condition(%more)
  } do {
    scf.yield %zero : i64
  }
  scf.for %i = %c0 to %c8 step %c1 {
    func.call @rounds(%n, %i) : (i64, index) -> ()
  }
  scf.for %i = %c0 to %c8 step %step {
    scf.yield
  }
  return
}
func.func @pieces(%m: memref<?xi64>, %n: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> i64 {
    %x = memref.load %m[%i] : memref<?xi64>
    %t = arith.addi %s, %x : i64
    scf.yield %t : i64
  }
  return %sum : i64
}
func.func @short(%m: memref<64x8xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %zero, %m[%i, %j] : memref<64x8xi64>
    }
  }
  return
}
func.func @blocks(%n: i64) {
  cf.br ^head(%n : i64)
^head(%x: i64):
  %more = arith.cmpi ne, %x, %n : i64
  cf.cond_br %more, ^head(%n : i64), ^end
^end:
  return
}
func.func @tasks(%n: index, %t: !async.token, %g: !async.group) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c1000 = arith.constant 1000 : index
  scf.for %i = %c0 to %c1000 step %c1 {
    %u = async.execute [%t] {
      func.call @tasks(%i, %t, %g) : (index, !async.token, !async.group) -> ()
      async.yield
    }
    %rank = async.add_to_group %u, %g : !async.token
  }
  scf.for %i = %c0 to %n step %c1 {
    %u = async.execute [%t] {
      async.yield
    }
  }
  scf.for %i = %c0 to %c8 step %c1 {
    async.await %t : !async.token
  }
  %last = scf.for %i = %c0 to %c8 step %c1 iter_args(%before = %t) -> !async.token {
    %u = async.execute [%before] {
      async.yield
    }
    scf.yield %u : !async.token
  }
  return
}
