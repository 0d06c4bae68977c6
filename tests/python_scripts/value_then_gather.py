# "then(fn) gives the AsyncValue of fn(value)"; "tfrt.gather(*values) one AsyncValue of a tuple"; "tfrt.unavailable() one that the user resolves".
import tfrt_nb as tfrt


def root(error):
    while error.__cause__ is not None:
        error = error.__cause__
    return type(error).__name__


value = tfrt.unavailable()
thirds = value.then(lambda x: x // 3).then(str)
print(isinstance(thirds, tfrt.AsyncValue), thirds.done())
value.set_result(42)
print(repr(thirds.result(20)), value.then(lambda x: None).result(20))

CALLED = []
broken = value.then(lambda x: x // 0)
after = broken.then(CALLED.append)
print(root(broken.exception(20)))
print(root(after.exception(20)), CALLED)

a, b, c = (tfrt.unavailable() for _ in range(3))
together = tfrt.gather(a, b, c)
b.set_result("b"), c.set_result([3])
print(together.done())
a.set_result(None)
print(together.result(20))
print(tfrt.gather().result(20), tfrt.gather(value).result(20))

x, y = tfrt.unavailable(), tfrt.unavailable()
both = tfrt.gather(x, y)
x.set_result(1), y.set_exception(KeyError("y"))
print(root(both.exception(20)))
try:
    value.set_result(43)
except Exception:
    print("once only", value.result())
