// Attributes of all kinds on an operation whose kernel looks at none, and on functions.
#alias = "by another name"

func @main() -> (i32, i32) attributes {tfrt.cost_threshold = 10 : i64, my.attribute = [1, 2]} {
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 2
  %c = tfrt.add.i32 %a, %b {a = 1 : i8, b = -1 : i16, c = 1 : ui8, d = 0x7F800000 : f32, e = 1.5 : bf16, f = "text\0A", g = true, h = f64}
  %d = tfrt.add.i32 %a, %b {a = [1 : i32, 2 : i32], b = [], c = [1.0 : f32], d = ["a", [1 : i32]], e = [i32, f32], f = dense<[1, 2]> : tensor<2xi32>, g = #corert.shape<2x?>, h = #alias, i = [true, false]}
  tfrt.return %c, %d : i32, i32
}
