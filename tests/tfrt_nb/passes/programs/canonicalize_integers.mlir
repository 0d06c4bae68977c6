// pipeline: builtin.module(canonicalize)
// Constants of all kinds, operands that change nothing, sums of sums; what is not defined stays.
func.func @constants(%x: i8) -> (i8, i8, i8, i8, i8, i8, i1, index, i8, i8) {
  %most = arith.constant 127 : i8
  %one = arith.constant 1 : i8
  %minus = arith.constant -1 : i8
  %zero = arith.constant 0 : i8
  %least = arith.constant -128 : i8
  %nine = arith.constant 9 : i8
  %a = arith.addi %most, %one : i8
  %b = arith.divui %minus, %nine : i8
  %c = arith.divsi %least, %minus : i8
  %d = arith.remsi %nine, %zero : i8
  %e = arith.shli %one, %nine : i8
  %f = arith.ceildivsi %minus, %nine : i8
  %g = arith.cmpi ult, %minus, %one : i8
  %h = arith.index_castui %minus : i8 to index
  %i = arith.floordivsi %minus, %nine : i8
  %j = arith.maxui %minus, %one : i8
  return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j : i8, i8, i8, i8, i8, i8, i1, index, i8, i8
}
func.func @identities(%x: i32, %y: i32, %c: i1) -> (i32, i32, i32, i32, i32, i32, i32, i32, i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ones = arith.constant -1 : i32
  %a = arith.addi %zero, %x : i32
  %b = arith.muli %x, %one : i32
  %c0 = arith.subi %x, %x : i32
  %n = arith.xori %x, %ones : i32
  %d = arith.andi %n, %x : i32
  %e = arith.ori %x, %n : i32
  %s = arith.addi %x, %y : i32
  %f = arith.subi %s, %x : i32
  %t = arith.xori %x, %y : i32
  %g = arith.xori %y, %t : i32
  %h = arith.select %c, %x, %x : i32
  %less = arith.cmpi slt, %x, %y : i32
  %true = arith.constant true
  %i = arith.xori %less, %true : i1
  return %a, %b, %c0, %d, %e, %f, %g, %h, %i : i32, i32, i32, i32, i32, i32, i32, i32, i1
}
func.func @sums(%x: i64, %y: i64) -> (i64, i64, i64, i64, i64, i64) {
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %minus = arith.constant -1 : i64
  %a = arith.addi %x, %two overflow<nsw, nuw> : i64
  %b = arith.addi %three, %a overflow<nsw, nuw> : i64
  %c = arith.subi %two, %x : i64
  %d = arith.subi %c, %three : i64
  %e = arith.subi %three, %c : i64
  %f = arith.muli %x, %three : i64
  %g = arith.muli %f, %two : i64
  %h = arith.muli %y, %minus : i64
  %i = arith.addi %x, %h : i64
  %j = arith.subi %x, %y : i64
  %k = arith.subi %j, %x : i64
  return %b, %d, %e, %g, %i, %k : i64, i64, i64, i64, i64, i64
}
func.func @casts(%b: i1, %x: i8, %i: index) -> (i32, i8, i16, index, i1, i16, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %a = arith.extui %x : i8 to i16
  %c = arith.extsi %a : i16 to i32
  %d = arith.trunci %a : i16 to i8
  %e = arith.extsi %x : i8 to i32
  %f = arith.trunci %e : i32 to i16
  %g = arith.index_cast %i : index to i64
  %h = arith.index_cast %g : i64 to index
  %j = arith.extui %b : i1 to i32
  %k = arith.cmpi ne, %j, %zero : i32
  %l = arith.extui %x : i8 to i16
  %m = arith.andi %l, %a : i16
  %n = arith.select %b, %zero, %one : i32
  return %c, %d, %f, %h, %k, %m, %n : i32, i8, i16, index, i1, i16, i32
}
