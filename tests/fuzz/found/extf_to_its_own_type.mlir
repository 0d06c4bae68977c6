// pipeline: builtin.module(canonicalize)
// Floats: rounding once, zeros with signs, what is not a number; functions of constants.
func.func @floats(%x: f32, %h: f32) -> (f32, f32, f32, f32, f32, f32, i1, f32, f32, f64, i32, f32) {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %tenth = arith.constant 0.1 : f32
  %none = arith.constant 0x7FC00000 : f32
  %a = arith.addf %x, %zero : f32
  %b = arith.addf %x, %minus : f32
  %c = arith.mulf %one, %x : f32
  %d = arith.divf %one, %zero : f32
  %e = arith.addf %tenth, %one : f32
  %f = arith.maximumf %none, %one : f32
  %g = arith.cmpf ult, %x, %none : f32
  %m = arith.negf %x : f32
  %n = arith.mulf %m, %m : f32
  %w = arith.extf %h : f32 to f32
  %v = arith.truncf %w : f32 to f32
  %u = arith.extf %tenth : f32 to f64
  %t = arith.fptosi %tenth : f32 to i32
  %s = math.sqrt %one : f32
  return %a, %b, %c, %d, %e, %f, %g, %n, %v, %u, %t, %s : f32, f32, f32, f32, f32, f32, i1, f32, f32, f64, i32, f32
}