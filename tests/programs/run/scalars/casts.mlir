// Between whole numbers and floats: toward zero, and to the nearest.
func @to_floats() -> (f32, f64, f32) {
  %a = tfrt.constant.i64 9007199254740993
  %0 = "tfrt.cast.i64_to_f32"(%a) : (i64) -> f32
  %1 = "tfrt.cast.i64_to_f64"(%a) : (i64) -> f64
  %b = tfrt.constant.i64 -9223372036854775808
  %2 = "tfrt.cast.i64_to_f32"(%b) : (i64) -> f32
  tfrt.return %0, %1, %2 : f32, f64, f32
}

func @to_whole_numbers() -> (i64, i64, i64, i64) {
  %a = tfrt.constant.f32 -2.75
  %b = tfrt.constant.f64 2.75
  %0 = "tfrt.cast.f32_to_i64"(%a) : (f32) -> i64
  %1 = "tfrt.cast.f64_to_i64"(%b) : (f64) -> i64
  %c = tfrt.constant.f64 -0.99
  %2 = "tfrt.cast.f64_to_i64"(%c) : (f64) -> i64
  %d = tfrt.constant.f32 16777216.0
  %3 = "tfrt.cast.f32_to_i64"(%d) : (f32) -> i64
  tfrt.return %0, %1, %2, %3 : i64, i64, i64, i64
}

// What fits in no i64 is what the processor makes of it: the least number.
func @out_of_range() -> (i64, i64, i64, i64) {
  %a = tfrt.constant.f32 1.0e30
  %b = tfrt.constant.f64 -1.0e300
  %c = tfrt.constant.f64 0x7FF8000000000000
  %d = tfrt.constant.f32 0xFF800000
  %0 = "tfrt.cast.f32_to_i64"(%a) : (f32) -> i64
  %1 = "tfrt.cast.f64_to_i64"(%b) : (f64) -> i64
  %2 = "tfrt.cast.f64_to_i64"(%c) : (f64) -> i64
  %3 = "tfrt.cast.f32_to_i64"(%d) : (f32) -> i64
  tfrt.return %0, %1, %2, %3 : i64, i64, i64, i64
}
