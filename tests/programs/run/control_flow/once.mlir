// tfrt.once runs a function at its first call in a run, and gives its results again later.
func @make(%ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %x = tfrt.constant.i32 6
  %ch1 = tfrt.print.i32 %x, %ch
  tfrt.return %x, %ch1 : i32, !tfrt.chain
}

func @main() -> (i32, i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a, %ch1 = tfrt.once @make(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %b, %ch2 = "tfrt.once"(%ch1) {function = @make} : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %a, %b, %ch2 : i32, i32, !tfrt.chain
}
