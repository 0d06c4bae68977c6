# "An AsyncValue is an argument of a run while it is still unavailable, also of another host": also of one without workers.
import asyncio
import concurrent.futures as cf
import threading

import numpy as np

import tfrt_nb as tfrt

keep = tfrt.Program("""
func.func @main(%x: !t.tensor, %y: !tfrt.object) -> (!t.tensor, !tfrt.object) {
  tfrt.return %x, %y : !t.tensor, !tfrt.object
}
""")
p = tfrt.Program(
    "func.func @main(%a: i32, %b: i32) -> i32 {\n %c = tfrt.add.i32 %a, %b\n tfrt.return %c : i32\n}\nfunc.func @code(%a: i32) -> i32 {\n %c = arith.addi %a, %a : i32\n return %c : i32\n}"
)
n = threading.active_count()
with tfrt.HostContext("s") as s, tfrt.HostContext("s") as t, tfrt.HostContext("mstd:2") as m:
    start = tfrt.unavailable()
    v = start
    for i in range(30):
        (v,) = p.run(v, 1, host=(s, m, t)[i % 3])
    (c,) = p.run(v, function="code", host=m)
    threading.Timer(0.05, start.set_result, [0]).start()
    print(c.result(20), v.result(20))
    (a,) = p.run(1, 2, host=m)
    (b,) = p.run(3, 4, host=s)
    print(
        tfrt.gather(a, b).result(10),
        tfrt.gather(p.run(1, 1, host=m).results[0], p.run(2, 2, host=s).results[0]).result(),
    )
    (w,) = p.run(5, 6, host=s)
    print(w.to_future().result(10))
    fs = [p.run(i, i, host=s).results[0].to_future() for i in range(5)]
    print(sorted(f.result() for f in cf.as_completed(fs, timeout=10)))
    x = tfrt.unavailable()
    (y,) = p.run(x, 1, host=s)
    f = y.to_future()
    x.set_result(4)
    print(f.result(10))

    failed = tfrt.unavailable()
    (after,) = p.run(p.run(failed, 1, host=s).results[0], 2, host=m)
    failed.set_exception(KeyError("lost"))
    print(repr(after.exception(10).__cause__))
    array, basket, given = tfrt.unavailable(), tfrt.unavailable(), {"milk": 2}
    kept = keep.run(*keep.run(array, basket, host=m), host=s)
    array.set_result(np.array([1.5, 2.5])), basket.set_result(given)
    print(kept.result(10)[0].tolist(), kept.result(10)[1] is given)

    async def main():
        (one,) = p.run(1, 1, host=s)
        (two,) = p.run(2, 2, host=t)
        (three,) = p.run(3, 3, host=m)
        print(
            await tfrt.gather(one, two, three),
            await asyncio.wrap_future(p.run(7, 7, host=t).results[0].to_future()),
        )
        print(await p.run(p.run(1, 1, host=s).results[0], 2, host=m))

    asyncio.run(main())
    (q,) = p.run(tfrt.unavailable() if 0 else x, 1, host=s)
    never = tfrt.unavailable()
    (left,) = p.run(never, 1, host=s)
    lf = left.to_future()
    (lm,) = p.run(left, 1, host=m)
print(lf.done(), lm.done(), lf.exception() is not None if not lf.cancelled() else "cancelled")
import time

end = time.monotonic() + 5
while threading.active_count() > n and time.monotonic() < end:
    time.sleep(0.01)
print(threading.active_count() <= n)
