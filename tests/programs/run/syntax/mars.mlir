// The asynchronous read of the design document, and what waits for it.
func @print_from_mars() -> (i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %y = tfrt.async.read.from.mars
  %ch1 = tfrt.print.i32 %y, %ch
  %z = "tfrt.async.read.from.mars"() : () -> i32
  tfrt.return %z, %ch1 : i32, !tfrt.chain
}
