# "operators are kernels: + - * // % < <= == != & | ^ ~ min max abs, casts as tfrt.f64(x)"; divmod(cost, people).
import tfrt_nb as tfrt

@tfrt.program
def whole(a: tfrt.i32, b: tfrt.i32):
    share, rest = divmod(a, b)
    return a + b, a - b, a * b, a // b, a % b, share, rest

@tfrt.program
def bits(a: tfrt.i32, b: tfrt.i32):
    return a & b, a | b, a ^ b, ~a

@tfrt.program
def compare(a: tfrt.i64, b: tfrt.i64):
    both = (a < b) & (a != b)
    return a < b, a <= b, a == b, a != b, both, both | (a == b), ~both

@tfrt.program
def broken(a: tfrt.f64, b: tfrt.f64):
    return a + b, a - b, a * b, a < b, abs(a - b)

@tfrt.program
def casts(n: tfrt.i32, x: tfrt.f64):
    return tfrt.f64(n) * x, tfrt.i32(x), tfrt.i64(n), tfrt.f32(n)

@tfrt.program
def constants(a: tfrt.i32, x: tfrt.f64):
    share, rest = divmod(a, 4)
    return a + 1, 10 - a, 2 * a, a // 2, a < 8, share, rest, x * 2.0, 1.0 - x

print(whole(17, 5).result(20))
print(bits(12, 10).result(20))
print(compare(3, 4).result(20), compare(4, 4).result(20))
print(broken(2.5, 4.0).result(20))
print(casts(3, 2.5).result(20))
print(constants(7, 0.25).result(20))
