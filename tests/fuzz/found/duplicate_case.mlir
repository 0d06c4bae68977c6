func.func @pick(%k: i32) -> f64 {
  %a = arith.constant 6.25 : f64
  %b = arith.constant 2.0 : f64
  %c = arith.constant 3.0 : f64
  cf.switch %k : i32, [
    default: ^d,
    1: ^one,
    1: ^seven
  ]
^one:
  %r = math.sqrt %a : f64
  return %r : f64
^seven:
  %p = math.powf %b, %c : f64
  return %p : f64
^d:
  %z = arith.constant 1.0 : f64
  %q = math.fma %z, %z, %z : f64
  %h = arith.constant 5.0e-1 : f64
  %w = arith.mulf %q, %h : f64
  return %w : f64
}
func.func @main() {
  %k1 = arith.constant 1 : i32
  %k7 = arith.constant 7 : i32
  %k9 = arith.constant 9 : i32
  %v:3 = call @three(%k1, %k7, %k9) : (i32, i32, i32) -> (f64, f64, f64)
  call @printF64(%v#0) : (f64) -> ()
  call @printComma() : () -> ()
  call @printF64(%v#1) : (f64) -> ()
  call @printComma() : () -> ()
  call @printF64(%v#2) : (f64) -> ()
  call @printNewline() : () -> ()
  return
}
func.func @three(%a: i32, %b: i32, %c: i32) -> (f64, f64, f64) {
  %t, %x = async.execute -> !async.value<f64> {
    %r = func.call @pick(%a) : (i32) -> f64
    async.yield %r : f64
  }
  %u, %y = async.execute [%t] -> !async.value<f64> {
    %r = func.call @pick(%b) : (i32) -> f64
    async.yield %r : f64
  }
  %z = call @pick(%c) : (i32) -> f64
  %xx = async.await %x : !async.value<f64>
  %yy = async.await %y : !async.value<f64>
  return %xx, %yy, %z : f64, f64, f64
}
func.func private @printF64(f64)
func.func private @printNewline()
func.func private @printComma()
