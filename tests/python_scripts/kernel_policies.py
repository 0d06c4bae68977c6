# retries=, timeout= and limit= of blocking and plain kernels, and what they refuse.
import threading

import tfrt_nb as tfrt

gate, tries = threading.Event(), []


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


print(tfrt.call("policy.stuck").result(20), tries)
error = tfrt.call("policy.gone").exception(20)
print(type(error).__name__, repr(error.__cause__))
gate.set()
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
