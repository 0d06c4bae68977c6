# retries=, timeout= and limit= of kernels of all kinds, and what they refuse.
import threading
import time

import tfrt_nb as tfrt

gate, tries, lock, running, most = threading.Event(), [], threading.Lock(), 0, 0


@tfrt.kernel("policy.stuck", blocking=True, timeout=0.05, retries=1)
def stuck() -> int:
    tries.append(len(tries))
    if len(tries) < 2:
        gate.wait(20)
    return len(tries)


@tfrt.kernel("policy.gone", blocking=True, timeout=0.05)
def gone() -> int:
    gate.wait(20)
    return 1


@tfrt.kernel("policy.one", limit=1)
def one(x: int) -> int:
    if x == 2:
        raise ValueError("two")
    return x


@tfrt.kernel("policy.third", retries=2)
def third(x: int) -> int:
    tries.append(x)
    if len(tries) < 3:
        raise ConnectionError(f"try {len(tries)}")
    return 10 * x


@tfrt.kernel("policy.never", retries=2)
async def never(x: int) -> int:
    tries.append(x)
    raise ConnectionError(f"try {len(tries)}")


@tfrt.kernel("policy.few", blocking=True, limit=2)
def few(x: int) -> int:
    global running, most
    with lock:
        running, most = running + 1, max(most, running + 1)
    time.sleep(0.05)
    with lock:
        running -= 1
    return x + 1


print(tfrt.call("policy.stuck").result(20), tries)
error = tfrt.call("policy.gone").exception(20)
print(type(error).__name__, repr(error.__cause__))
gate.set()
tries.clear()
print(tfrt.call("policy.third", 7).result(20), tries)
tries.clear()
print(repr(tfrt.call("policy.never", 8).exception(20).__cause__), tries)
print([value.result(20) for value in [tfrt.call("policy.few", i) for i in range(8)]], most <= 2)
print([value.exception(20) is None for value in [tfrt.call("policy.one", i) for i in range(5)]])

for options in (
    {"retries": -1},
    {"retries": 1.5},
    {"timeout": 0},
    {"limit": 0},
    {"timeout": 1.0},
    {"native": True},
    {"native": "(i32) -> i32", "limit": 2},
):
    try:
        @tfrt.kernel("policy.wrong", **options)
        def wrong(x):
            return x
    except tfrt.TfrtError as problem:
        print(problem.diagnostics[0].location.source == __file__, problem.diagnostics[0].message)
