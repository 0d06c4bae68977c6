// Arguments that are awaited may stand anywhere among the others, and a value may be given twice.
// call: main 1 2 3
// result: i32 available 1232
func.func @main(%a: i32, %b: i32, %c: i32) -> i32 {
  %r = tfrt.call @digits(%a, %b, %c, %b) : (i32, i32, i32, i32) -> i32
  tfrt.return %r : i32
}
async.func @digits(%a: !async.value<i32>, %b: i32, %c: !async.value<i32>, %d: i32) -> !async.value<i32> {
  %ten = arith.constant 10 : i32
  %x = await %a : !async.value<i32>
  %y = await %c : !async.value<i32>
  %0 = arith.muli %x, %ten : i32
  %1 = arith.addi %0, %b : i32
  %2 = arith.muli %1, %ten : i32
  %3 = arith.addi %2, %y : i32
  %4 = arith.muli %3, %ten : i32
  %5 = arith.addi %4, %d : i32
  return %5 : i32
}
