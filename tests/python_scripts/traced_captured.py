# Captured objects "are one operation with a slot of the Program".
import pickle

import tfrt_nb as tfrt

TABLE = {"a": 1}


class Counter:
    n = 0


C = Counter()


@tfrt.kernel("d.use")
def use(o: object, x: int) -> object:
    if isinstance(o, Counter):
        o.n += 1
    return o, x


@tfrt.kernel("d.call")
def call(f: object, x: int) -> int:
    return f(x)


@tfrt.kernel("d.text")
def text(s: str, n: int, x: float, b: bool) -> str:
    return f"{s} {n} {x} {b}"


@tfrt.program
def a(x: tfrt.i32):
    return use(TABLE, x), use(C, x + 1)


@tfrt.program
def b(x: tfrt.i32):
    return call(lambda v: v * 3, x)


@tfrt.program
def c(x: tfrt.i32):
    return text("s", 3, 2.5, True), text("t", x, 1.5, x > 2)


@tfrt.program
def none(x: tfrt.i32):
    return use(None, x)


(t, one), (c2, two) = a(1).result(10)
print(t is TABLE, one, c2 is C, two, C.n, b(4).result(10), c(7).result(10), none(1).result(10))
p = a.trace()
print("tfrt.captured" in p.mlir, p.run(5).result(10)[0][0] is TABLE)
try:
    pickle.dumps(p)
    print("pickled")
except Exception as e:
    print(type(e).__name__)
q = tfrt.Program(p.mlir)
try:
    print(q.run(1).result(10))
except tfrt.TfrtError as e:
    print("captured" in str(e) or "object" in str(e), e.diagnostics[0].location.line > 0)
try:
    r = tfrt.Program.from_bef(p.bef)
    print(r.run(1).result(10))
except tfrt.TfrtError as e:
    print("bef", "captured" in str(e) or "object" in str(e))
print(pickle.loads(pickle.dumps(c.trace())).run(1).result(10))
