# Chains through bodies, nested in_order, after= with several values and calls of programs.
import time

import tfrt_nb as tfrt

LOG = []


@tfrt.kernel("d.show")
def show(x: int, *, pause: float = 0.0) -> None:
    time.sleep(pause)
    LOG.append(x)


@tfrt.kernel("d.get")
def get(x: int) -> int:
    LOG.append(("get", x))
    return x


@tfrt.kernel("d.alater")
async def alater(x: int) -> None:
    import asyncio

    await asyncio.sleep(0.05)
    LOG.append(x)


@tfrt.program
def sub(x: tfrt.i32):
    show(x, pause=0.05)
    show(x + 1)


@tfrt.program
def bodies(n: tfrt.i32):
    with tfrt.in_order():
        show(0, pause=0.05)
        tfrt.repeat(n, lambda i: (show(i, pause=0.01), i + 1)[1], 1)
        tfrt.cond(n > 2, lambda: show(100, pause=0.02), lambda: show(200))
        show(7)


@tfrt.program
def afters(n: tfrt.i32):
    a = tfrt.cond(n > 2, lambda: show(1, pause=0.05), lambda: show(2))
    b = tfrt.repeat(2, lambda: show(3, pause=0.02)) if 0 else show(3, after=a)
    c = tfrt.parallel_for(3, lambda i: show(10 + i, pause=0.01)) if 0 else show(4, after=[b])
    d = alater(5, after=(a, b, c))
    show(6, after=d)


@tfrt.program
def values(x: tfrt.i32):
    a = get(x)
    show(9, after=a)
    return a


@tfrt.program
def calls(x: tfrt.i32):
    a = sub(x)
    show(50, after=a)


@tfrt.program
def mixed(x: tfrt.i32):
    with tfrt.in_order():
        alater(1)
        show(2)
        alater(3)
        sub(10)
        show(4)


@tfrt.program
def nested(x: tfrt.i32):
    with tfrt.in_order():
        show(1, pause=0.05)
        with tfrt.in_order():
            show(2, pause=0.02)
        show(3)


@tfrt.program
def loop_after(n: tfrt.i32):
    done = tfrt.parallel_for(n, lambda i: show(i, pause=0.01))
    show(99, after=done)


def run(f, *v):
    LOG.clear()
    print(f.__name__, f(*v).wait(20), LOG)


run(bodies, 3)
run(afters, 3)
run(values, 5)
run(mixed, 0)
run(nested, 0)
LOG.clear()
calls(1).wait(10)
print(LOG[-1], sorted(LOG))
LOG.clear()
loop_after(4).wait(10)
print(LOG[-1], sorted(LOG))
try:

    @tfrt.kernel("d.bad")
    def bad(x: int, *, after: int = 0) -> None:
        pass

    print("taken")
except (tfrt.TfrtError, TypeError) as e:
    print("after" in str(e))


@tfrt.program
def wrong(x: tfrt.i32):
    show(x, after=3)


try:
    wrong(1).wait(5)
    print("taken")
except tfrt.TfrtError as e:
    print(e.diagnostics[0].location.line)
show(1, pause=0.0)
