# Several threads call one program, which is traced once for each type.
import threading

import tfrt_nb as tfrt


@tfrt.program
def f(x):
    return x * 2 + 1


out = {}


def go(i):
    out[i] = f(i).result(20), f(float(i)).result(20)


ts = [threading.Thread(target=go, args=(i,)) for i in range(8)]
for t in ts:
    t.start()
for t in ts:
    t.join()
print(all(out[i] == (2 * i + 1, 2.0 * i + 1) for i in range(8)))
import concurrent.futures as cf

with cf.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda i: f(i).result(20), range(50))))
