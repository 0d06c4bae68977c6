// Operations of the dialect for indices, of arith.remf and arith.index_castui.
func.func private @printI64(i64)
func.func private @printF64(f64)
func.func private @printNewline()
func.func private @show(%i: index) {
  %0 = arith.index_cast %i : index to i64
  call @printI64(%0) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
func.func @main() {
  %a = index.constant -7
  %b = index.constant 2
  %0 = index.add %a, %b
  call @show(%0) : (index) -> ()
  %1 = index.divs %a, %b
  call @show(%1) : (index) -> ()
  %2 = index.floordivs %a, %b
  call @show(%2) : (index) -> ()
  %3 = index.ceildivs %a, %b
  call @show(%3) : (index) -> ()
  %4 = index.remu %a, %b
  call @show(%4) : (index) -> ()
  %5 = index.shrs %a, %b
  call @show(%5) : (index) -> ()
  %6 = index.maxu %a, %b
  call @show(%6) : (index) -> ()
  %7 = index.cmp ult(%a, %b)
  %8 = arith.extui %7 : i1 to i8
  %9 = index.castu %8 : i8 to index
  call @show(%9) : (index) -> ()
  %10 = index.casts %a : index to i8
  %11 = arith.index_castui %10 : i8 to index
  call @show(%11) : (index) -> ()
  %12 = index.sizeof
  call @show(%12) : (index) -> ()
  %true = index.bool.constant true
  %x = arith.constant -7.5 : f64
  %y = arith.constant 2.0 : f64
  %z = arith.remf %x, %y : f64
  %w = arith.select %true, %z, %x : f64
  call @printF64(%w) : (f64) -> ()
  %sum, %over = arith.addui_extended %a, %a : index, i1
  call @show(%sum) : (index) -> ()
  return
}
