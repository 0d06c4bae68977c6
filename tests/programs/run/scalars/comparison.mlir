// What gives a truth value, and what a truth value is good for.
func @i32() -> (i1, i1, i1, i1) {
  %a = tfrt.constant.i32 -1
  %b = tfrt.constant.i32 0
  %0 = tfrt.equal.i32 %a, %b
  %1 = tfrt.equal.i32 %a, %a
  %2 = "tfrt.lessequal.i32"(%a, %b) : (i32, i32) -> i1
  %3 = "tfrt.lessequal.i32"(%b, %a) : (i32, i32) -> i1
  tfrt.return %0, %1, %2, %3 : i1, i1, i1, i1
}

func @i64() -> (i1, i1, i1, i1) {
  %a = tfrt.constant.i64 4294967296
  %b = tfrt.constant.i64 0
  %0 = tfrt.equal.i64 %a, %b
  %1 = "tfrt.equal.i64"(%a, %a) : (i64, i64) -> i1
  %2 = "tfrt.lessequal.i64"(%a, %b) : (i64, i64) -> i1
  %3 = "tfrt.lessequal.i64"(%b, %a) : (i64, i64) -> i1
  tfrt.return %0, %1, %2, %3 : i1, i1, i1, i1
}

func @and() -> (i1, i1, i1, i1) {
  %t = tfrt.constant.i1 true
  %f = tfrt.constant.i1 false
  %0 = tfrt.and.i1 %t, %t
  %1 = tfrt.and.i1 %t, %f
  %2 = "tfrt.and.i1"(%f, %t) : (i1, i1) -> i1
  %3 = tfrt.and.i1 %f, %f
  tfrt.return %0, %1, %2, %3 : i1, i1, i1, i1
}
