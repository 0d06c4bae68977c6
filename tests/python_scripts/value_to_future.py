# "to_future() a real concurrent.futures.Future", so that wait and as_completed take it; callbacks, and from_future.
import concurrent.futures as cf

import tfrt_nb as tfrt

v = tfrt.unavailable()
f = v.to_future()
print(type(f) is cf.Future or isinstance(f, cf.Future), f.done(), f.running(), f.cancelled())
v.set_result([1])
print(f.result(5), f.result(5) is v.result())
e = tfrt.unavailable()
g = e.to_future()
e.set_exception(ValueError("x"))
print(type(g.exception(5)).__name__, repr(g.exception(5).__cause__))
c = tfrt.unavailable()
h = c.to_future()
c.cancel()
print(h.cancelled(), h.done())
try:
    h.result(1)
except cf.CancelledError:
    print("CancelledError")
values = [tfrt.unavailable() for _ in range(4)]
fs = [v.to_future() for v in values]
print(len(cf.wait(fs, timeout=0.05).done))
values[3].set_result(3)
done, rest = cf.wait(fs, timeout=20, return_when=cf.FIRST_COMPLETED)
print([f.result() for f in done], len(rest))
for i in (2, 0, 1):
    values[i].set_result(i)
print(sorted(f.result() for f in cf.as_completed(fs, timeout=5)))
done, rest = cf.wait(fs)
print(len(done), len(rest))
x = tfrt.unavailable()
k = x.to_future()
print(k.cancel())
print(k.cancelled(), x.cancelled())
p = tfrt.Program(
    "func.func @main(%a: i32) -> i32 {\n %b = tfrt.add.i32 %a, %a\n tfrt.return %b : i32\n}"
)
runs = [p.run(i) for i in range(5)]
print(
    sorted(
        f.result() for f in cf.as_completed([next(iter(r)).to_future() for r in runs], timeout=5)
    )
)
a, b = tfrt.unavailable(), tfrt.unavailable()
fa, fb = a.to_future(), b.to_future()
b.set_exception(ValueError())
done, rest = cf.wait([fa, fb], timeout=5, return_when=cf.FIRST_EXCEPTION)
print(len(done), len(rest))

fs = [v.to_future() for v in (tfrt.unavailable(), c, x)]
fs[0].cancel()
print(len(cf.wait(fs, timeout=5).done), len(list(cf.as_completed(fs, timeout=5))))

heard = []
value = tfrt.unavailable()
value.add_done_callback(heard.append)
print(value.state == "unavailable", value.done(), value.cancelled(), heard)
try:
    value.result(timeout=0.05)
except TimeoutError:
    print("not in time")
value.set_result({"milk": 2})
print(value.state == "available", value.done(), value.cancelled(), heard[0].result(), value.exception())
value.add_done_callback(lambda resolved: heard.append("at once"))
print(heard[1], e.state == "error")

later = cf.Future()
from_outside = tfrt.AsyncValue.from_future(later)
print(from_outside.done())
later.set_result(7)
print(from_outside.result(20))
