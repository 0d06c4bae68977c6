// A function with a kernel is a host program, whatever else is in it.
func.func @apply(%f: (i32) -> i32, %a: i32) -> i32 {
  %r = call_indirect %f(%a) : (i32) -> i32
  return %r : i32
}
func.func @neg(%a: i32) -> i32 {
  return %a : i32
}
func.func @main() {
  %two = tfrt.constant.i32 2
  %f = func.constant @neg : (i32) -> i32
  %b = func.call @apply(%f, %two) : ((i32) -> i32, i32) -> i32
  return
}

// -----
func.func @sum(%x: i32) -> i32 {
  %c0 = arith.constant 1 : i32
  %c1 = arith.constant 2 : i32
  %a = arith.addi %x, %c0 : i32
  %b = arith.addi %a, %c1 : i32
  %c = tfrt.add.i32 %a, %b
  tfrt.return %c : i32
}
