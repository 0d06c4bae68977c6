// pipeline: inline
// A body of several blocks stays a call where the place takes one block.
func.func private @twice(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
func.func private @positive(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %is_negative = arith.cmpi slt, %x, %zero : i32
  cf.cond_br %is_negative, ^negative, ^end(%x : i32)
^negative:
  %negated = arith.subi %zero, %x : i32
  cf.br ^end(%negated : i32)
^end(%r: i32):
  return %r : i32
}
func.func private @four_times(%x: i32) -> i32 {
  %a = call @twice(%x) : (i32) -> i32
  %b = call @twice(%a) : (i32) -> i32
  return %b : i32
}
func.func @main(%a: i32) -> i32 {
  %r = call @positive(%a) : (i32) -> i32
  %token, %value = async.execute -> !async.value<i32> {
    %x = func.call @four_times(%r) : (i32) -> i32
    %y = func.call @positive(%x) : (i32) -> i32
    async.yield %y : i32
  }
  %z = async.await %value : !async.value<i32>
  return %z : i32
}
func.func private @uses_memory(%x: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  memref.store %x, %m[] : memref<i32>
  %y = memref.load %m[] : memref<i32>
  return %y : i32
}
func.func @keeps_the_call(%x: i32) -> i32 {
  %y = call @uses_memory(%x) : (i32) -> i32
  return %y : i32
}
