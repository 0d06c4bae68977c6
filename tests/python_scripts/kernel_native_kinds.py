# Native kernels of numbers, arrays and what they write.
import numpy as np

import tfrt_nb as tfrt


@tfrt.kernel("c.scale", native=True)
def scale(x: tfrt.f64, *, by: float = 2.0) -> tfrt.f64:
    return x * by


@tfrt.kernel("c.two", native="(i32, i32) -> (i32, i32)")
def two(a, b):
    return a + b, a - b


@tfrt.kernel("c.vec", native=True)
def vec(x: tfrt.tensor[tfrt.f64, 1], n: tfrt.i64) -> tfrt.tensor[tfrt.f64, 1]:
    return x[:n] * 2.0


@tfrt.kernel("c.mat", native=True)
def mat(x: tfrt.tensor[tfrt.f32, 2]) -> tfrt.tensor[tfrt.f32, 2]:
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] + i * 10 + j
    return y


@tfrt.kernel("c.flag", native=True)
def flag(x: tfrt.i32) -> tfrt.i1:
    return x > 3


@tfrt.kernel("c.wrap", native=True)
def wrap(x: tfrt.i32) -> tfrt.i32:
    return x + 1


@tfrt.kernel("c.fill", native=True)
def fill(x: tfrt.out[tfrt.f64, 1]) -> None:
    for i in range(len(x)):
        x[i] = i


T = "!tfrt_tensor.tensor"
p = tfrt.Program(f"""
func.func @scale(%x: f64) -> f64 {{
  %y = "c.scale"(%x) : (f64) -> f64
  %z = "c.scale"(%y) {{by = 10.0 : f64}} : (f64) -> f64
  tfrt.return %z : f64
}}
func.func @two(%a: i32, %b: i32) -> (i32, i32) {{
  %c, %d = "c.two"(%a, %b) : (i32, i32) -> (i32, i32)
  tfrt.return %c, %d : i32, i32
}}
func.func @vec(%a: {T}, %n: i64) -> {T} {{
  %c = "c.vec"(%a, %n) : ({T}, i64) -> {T}
  tfrt.return %c : {T}
}}
func.func @mat(%a: {T}) -> {T} {{
  %c = "c.mat"(%a) : ({T}) -> {T}
  tfrt.return %c : {T}
}}
func.func @flag(%a: i32) -> i1 {{
  %c = "c.flag"(%a) : (i32) -> i1
  tfrt.return %c : i1
}}
func.func @wrap(%a: i32) -> i32 {{
  %c = "c.wrap"(%a) : (i32) -> i32
  tfrt.return %c : i32
}}
""")
print(p.scale(1.5).result(40), p.two(7, 2).result(40), scale(2.0), two(3, 4))
print(
    p.vec(np.arange(5.0), 3).result(40).tolist(),
    p.mat(np.zeros((2, 2), np.float32)).result(40).tolist(),
)
print(p.mat(np.arange(4, dtype=np.float32).reshape(2, 2).T).result(40).tolist())
print(p.flag(5).result(40), p.flag(1).result(40), p.wrap(2**31 - 1).result(40))
try:
    print(p.vec(np.arange(5), 3).result(40))
except tfrt.TfrtError as e:
    print("refused", e.diagnostics[0].location.line)
try:
    print(p.vec(np.zeros((2, 2)), 3).result(40))
except tfrt.TfrtError as e:
    print("refused", e.diagnostics[0].location.line)
print(p.vec(np.zeros(0), 3).result(40).tolist(), p.vec(np.arange(6.0)[::-2], 2).result(40).tolist())
mine = np.zeros(3)
try:
    r = tfrt.call("c.fill", mine)
    r.result(40)
    print(mine.tolist())
except tfrt.TfrtError as e:
    print("fill", e)
