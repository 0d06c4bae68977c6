# "A program calls another program; recursion works through tfrt.cond"; "from the first call's values (one version for each signature)".
import tfrt_nb as tfrt

TRACED = []

@tfrt.program
def both(a: tfrt.i32, b: tfrt.i32):
    return a + b, a * b

@tfrt.program
def square_sum(a: tfrt.i32, b: tfrt.i32):
    total, product = both(a, b)
    return total * total + product

@tfrt.program
def factorial(n: tfrt.i32) -> tfrt.i32:
    return tfrt.cond(n <= 1, lambda n: n, lambda n: n * factorial(n - 1), n)

@tfrt.program
def fib(n: tfrt.i32) -> tfrt.i32:
    return tfrt.cond(n < 2, lambda n: n, lambda n: fib(n - 1) + fib(n - 2), n)

@tfrt.program
def double(x):
    TRACED.append("version")
    return x + x

print(square_sum(3, 4).result(20), both(3, 4).result(20))
print(factorial(10).result(20), fib(15).result(20))
print(double(21).result(20), double(4).result(20), len(TRACED))
print(double(1.25).result(20), double(-0.5).result(20), len(TRACED))
print(double(3).result(20), len(TRACED))
later = tfrt.unavailable()
run = square_sum(later, 1)  # "7 and 2 may be AsyncValues"
print(run.done())
later.set_result(2)
print(run.result(20))
total, product = both(*both(2, 3))
print(total.result(20), product.result(20))
try:
    both("three", 4)
except tfrt.TfrtError as error:
    print("both" in str(error) or "main" in str(error), "i32" in str(error))
