# "tfrt.cond(p, then, otherwise, *args), tfrt.repeat(n, body, *carried), tfrt.while_loop(test, body, *carried), tfrt.parallel_for(n, body), tfrt.map(kernel, values)".
import tfrt_nb as tfrt

MARKED = []

@tfrt.kernel("control.mark")
def mark(i: int) -> None:
    MARKED.append(i)

@tfrt.kernel("control.square")
def square(x: int) -> int:
    return x * x

@tfrt.program
def clamp(x: tfrt.i32):
    return tfrt.cond(x < 10, lambda v: v * 2, lambda v: v - 10, x)

@tfrt.program
def fibonacci(n: tfrt.i32, a: tfrt.i32, b: tfrt.i32):
    return tfrt.repeat(n, lambda a, b: (b, a + b), a, b)

@tfrt.program
def gcd(a: tfrt.i32, b: tfrt.i32):
    return tfrt.while_loop(lambda a, b: b != 0, lambda a, b: (b, a % b), a, b)

@tfrt.program
def marks(n: tfrt.i32):
    tfrt.parallel_for(n, lambda i: mark(i))

@tfrt.program
def three(a: tfrt.i32):
    x, y, z = tfrt.map(square, [a, a + 1, a + 2])
    return x + y + z

@tfrt.program
def squares(values: object):
    return tfrt.map(square, values)

print(clamp(4).result(20), clamp(25).result(20), fibonacci(10, 0, 1).result(20), fibonacci(0, 3, 4).result(20))
print(gcd(84, 36).result(20), gcd(5, 0).result(20))
print(marks(6).wait(20), sorted(MARKED), three(2).result(20), list(squares([1, 2, 3]).result(20)), list(squares([]).result(20)))
