# "kernels that return None take part in order only through chains: a = show(x); b = show(y, after=a), or with tfrt.in_order()".
import time

import tfrt_nb as tfrt

LOG = []

@tfrt.kernel("effects.show")
def show(x: int, *, pause: float = 0.0) -> None:
    time.sleep(pause)
    LOG.append(x)

@tfrt.program
def chained(x: tfrt.i32, y: tfrt.i32):
    a = show(x, pause=0.2)
    b = show(y, pause=0.1, after=a)
    show(x + y, after=b)
    return x * y

@tfrt.program
def ordered(x: tfrt.i32):
    with tfrt.in_order():
        show(x, pause=0.2)
        show(x + 1, pause=0.1)
        show(x + 2)

@tfrt.program
def free(x: tfrt.i32):
    show(x, pause=0.1)
    show(x + 1)

run = chained(1, 2)
print(run.wait(20), run.result(20), LOG)
LOG.clear()
run = ordered(5)
print(run.wait(20), run.result(20), LOG)
LOG.clear()
print(free(8).wait(20), sorted(LOG))
show(3, pause=0.0)  # outside of a program it is the plain function
print(LOG[-1])
