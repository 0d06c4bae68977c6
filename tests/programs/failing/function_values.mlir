func.func @fails(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = arith.divsi %a, %zero : i32
  return %r : i32
}
func.func @other(%a: i32) -> i32 {
  return %a : i32
}
func.func @main() {
  %one = arith.constant 1 : i32
  %f = constant @fails : (i32) -> i32
  %g = constant @other : (i32) -> i32
  %false = arith.constant false
  %h = arith.select %false, %g, %f : (i32) -> i32
  %r = call_indirect %h(%one) : (i32) -> i32
  return
}
// -----
func.func @fails(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = arith.divsi %a, %zero : i32
  return %r : i32
}
func.func @other(%a: i32) -> i32 {
  return %a : i32
}
func.func @main() {
  %f = constant @nobody : (i32) -> i32
  return
}
// -----
func.func @fails(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = arith.divsi %a, %zero : i32
  return %r : i32
}
func.func @other(%a: i32) -> i32 {
  return %a : i32
}
func.func @main() {
  %f = constant @fails : (i64) -> i32
  return
}
// -----
func.func @fails(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = arith.divsi %a, %zero : i32
  return %r : i32
}
func.func @other(%a: i32) -> i32 {
  return %a : i32
}
func.func @main() {
  %f = constant @fails : (i32) -> i32
  %r = "func.call_indirect"(%f) : ((i32) -> i32) -> i32
  return
}
// -----
func.func @fails(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = arith.divsi %a, %zero : i32
  return %r : i32
}
func.func @other(%a: i32) -> i32 {
  return %a : i32
}
func.func @main() {
  %one = arith.constant 1 : i32
  %f = constant @fails : (i32) -> i32
  %r = "func.call_indirect"(%f, %one) : ((i32) -> i32, i32) -> i64
  return
}
// -----
func.func @fails(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = arith.divsi %a, %zero : i32
  return %r : i32
}
func.func @other(%a: i32) -> i32 {
  return %a : i32
}
func.func @main() {
  %f = constant @fails : i32
  return
}
// -----
func.func @fails(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = arith.divsi %a, %zero : i32
  return %r : i32
}
func.func @other(%a: i32) -> i32 {
  return %a : i32
}
func.func @main() {
  %one = arith.constant 1 : i32
  %r = call_indirect %one(%one) : (i32) -> i32
  return
}
// -----
func.func @fails(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = arith.divsi %a, %zero : i32
  return %r : i32
}
func.func @other(%a: i32) -> i32 {
  return %a : i32
}
func.func @main() {
  %one = arith.constant 1 : i32
  %f = ub.poison : (i32) -> i64
  %r = call_indirect %f(%one) : (i32) -> i64
  return
}
