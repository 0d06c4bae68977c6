"""Run Python kernels on the only thread of a page; see `test_page`."""

import asyncio
import time
import warnings

import tfrt_nb as tfrt


@tfrt.kernel
def nap(x: int) -> int:
    time.sleep(0.05)
    return x + 1


@tfrt.kernel
async def later(x: int) -> int:
    await asyncio.sleep(0.05)
    return x * 2


@tfrt.program
def both(x: int) -> int:
    return later(nap(x))


print("a kernel that sleeps, and one that awaits:", both(3).result())
print("awaited:", await both(4))  # noqa: F704, PLE1142

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with tfrt.HostContext("mstd:4"):
        print("mstd:4:", str(caught[0].message).partition(": ")[2])

value = tfrt.unavailable()
try:
    value.result(0.05)
except TimeoutError:
    print("a time limit: TimeoutError")
try:
    value.result()
except tfrt.TfrtError as problem:
    print("a wait that nothing ends:", str(problem).partition("error: ")[2].partition(":")[0])
value.set_result(1)

HOST = """func.func @host(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}"""
STUCK = """func.func @main() {
  %gate = async.runtime.create : !async.token
  async.runtime.await %gate : !async.token
  return
}"""
value = tfrt.unavailable()
waiting = tfrt.Program(HOST).run(value)
try:
    tfrt.Program(STUCK).run().result()
except tfrt.TfrtError as problem:
    print("a deadlock beside a run that waits:", problem.diagnostics[0].message)
value.set_result(4)
print("and that run:", waiting.result())


@tfrt.kernel
def deeper(x: int) -> int:
    return deep(x + 1).result()


@tfrt.program
def deep(x: int) -> int:
    return deeper(x)


try:
    deep(0).result()
except tfrt.TfrtError as problem:
    print("waits inside waits:", "too many" if "on top of" in str(problem) else str(problem)[:2000])


@tfrt.kernel
def wrong(x: int) -> int:
    return x // 0


try:
    tfrt.call(wrong, 1).result()
except tfrt.TfrtError as problem:
    print("an error:", problem.diagnostics[0].message)
print("still running:", both(5).result())
