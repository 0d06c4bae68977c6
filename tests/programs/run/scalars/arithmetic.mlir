// Arithmetic on every type; whole numbers wrap.
func @i32() -> (i32, i32, i32, i32, i32) {
  %least = tfrt.constant.i32 -2147483648
  %a = tfrt.constant.i32 -7
  %b = tfrt.constant.i32 2
  %sum = tfrt.add.i32 %least, %a
  %difference = "tfrt.minus.i32"(%least, %b) : (i32, i32) -> i32
  %product = tfrt.mul.i32 %least, %a
  %quotient, %remainder = tfrt.div.i32 %a, %b
  tfrt.return %sum, %difference, %product, %quotient, %remainder : i32, i32, i32, i32, i32
}

func @i64() -> (i64, i64, i64, i64, i64) {
  %most = tfrt.constant.i64 9223372036854775807
  %a = tfrt.constant.i64 7
  %b = tfrt.constant.i64 -2
  %sum = tfrt.add.i64 %most, %a
  %difference = "tfrt.minus.i64"(%most, %b) : (i64, i64) -> i64
  %product = tfrt.mul.i64 %most, %b
  %quotient, %remainder = tfrt.div.i64 %a, %b
  tfrt.return %sum, %difference, %product, %quotient, %remainder : i64, i64, i64, i64, i64
}

func @f32() -> (f32, f32, f32, f32) {
  %a = tfrt.constant.f32 1.5
  %b = tfrt.constant.f32 -0.25
  %sum = tfrt.add.f32 %a, %b
  %product = "tfrt.multiply.f32"(%a, %b) : (f32, f32) -> f32
  %quotient = "tfrt.div.f32"(%a, %b) : (f32, f32) -> f32
  %least = "tfrt.minimum.f32"(%a, %b) : (f32, f32) -> f32
  tfrt.return %sum, %product, %quotient, %least : f32, f32, f32, f32
}

func @f64() -> (f64, f64, f64, f64) {
  %a = tfrt.constant.f64 1.0e200
  %b = tfrt.constant.f64 -1.0e200
  %sum = tfrt.add.f64 %a, %b
  %product = "tfrt.multiply.f64"(%a, %b) : (f64, f64) -> f64
  %quotient = "tfrt.div.f64"(%a, %b) : (f64, f64) -> f64
  %least = "tfrt.minimum.f64"(%a, %b) : (f64, f64) -> f64
  tfrt.return %sum, %product, %quotient, %least : f64, f64, f64, f64
}

func @generic() -> (i32, i64, f32, f64, i32, i32, i64, i64) {
  %a = tfrt.constant.i32 3
  %b = tfrt.constant.i64 4
  %c = tfrt.constant.f32 0.5
  %d = tfrt.constant.f64 0.25
  %0 = "tfrt.add.i32"(%a, %a) : (i32, i32) -> i32
  %1 = "tfrt.add.i64"(%b, %b) : (i64, i64) -> i64
  %2 = "tfrt.add.f32"(%c, %c) : (f32, f32) -> f32
  %3 = "tfrt.add.f64"(%d, %d) : (f64, f64) -> f64
  %4:2 = "tfrt.div.i32"(%0, %a) : (i32, i32) -> (i32, i32)
  %5:2 = "tfrt.div.i64"(%1, %b) : (i64, i64) -> (i64, i64)
  tfrt.return %0, %1, %2, %3, %4#0, %4#1, %5#0, %5#1 : i32, i64, f32, f64, i32, i32, i64, i64
}

func @least_of_a_nan() -> (f32, f32, f64, f64) {
  %one = tfrt.constant.f32 1.0
  %nan = tfrt.constant.f32 0x7FC00000
  %a = "tfrt.minimum.f32"(%one, %nan) : (f32, f32) -> f32
  %b = "tfrt.minimum.f32"(%nan, %one) : (f32, f32) -> f32
  %two = tfrt.constant.f64 2.0
  %none = tfrt.constant.f64 0x7FF8000000000000
  %c = "tfrt.minimum.f64"(%two, %none) : (f64, f64) -> f64
  %d = "tfrt.minimum.f64"(%none, %two) : (f64, f64) -> f64
  tfrt.return %a, %b, %c, %d : f32, f32, f64, f64
}
