func @main() {
  %c3 = constant 3 : i64
  %c4 = constant 4 : i64
  %a = muli %c3, %c4 : i64
  %two = constant 2 : i64
  %b = addi %a, %two : i64
  call @show(%b) : (i64) -> ()
  %p = cmpi slt, %c3, %c4 : i64
  %pz = zexti %p : i1 to i64
  call @show(%pz) : (i64) -> ()
  %s = select %p, %c3, %c4 : i64
  call @show(%s) : (i64) -> ()
  %f = constant 1.5 : f64
  %g = addf %f, %f : f64
  %h = mulf %g, %f : f64
  %i = subf %h, %f : f64
  %j = divf %i, %f : f64
  %k = fptosi %j : f64 to i64
  cond_br %p, ^a, ^b
^a:
  %q = subi %c4, %two : i64
  br ^c(%q : i64)
^b:
  br ^c(%c3 : i64)
^c(%r: i64):
  call @show(%r) : (i64) -> ()
  %i0 = constant 0 : index
  %m = alloc() : memref<2xi64>
  %nine = constant 9 : i64
  store %nine, %m[%i0] : memref<2xi64>
  %l = load %m[%i0] : memref<2xi64>
  call @show(%l) : (i64) -> ()
  dealloc %m : memref<2xi64>
  return
}
func private @show(%v: i64) {
  call @printI64(%v) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func private @printI64(i64)
func private @printNewline()
