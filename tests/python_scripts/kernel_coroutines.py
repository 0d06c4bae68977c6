# Coroutine kernels on loops that end, are cancelled, time out, or raise what ends a loop; nothing hangs.
import asyncio
import threading

import tfrt_nb as tfrt


@tfrt.kernel("co.soon")
async def soon() -> int:
    return 3


@tfrt.kernel("co.never")
async def never() -> int:
    STARTED.set()
    await asyncio.sleep(600)


@tfrt.kernel("co.leave")
async def leave() -> int:
    raise SystemExit(3)


@tfrt.kernel("co.two")
async def two(x: int) -> tuple[int, str]:
    return x, "text"


@tfrt.kernel("co.few", limit=2)
async def few(x: int) -> int:
    RUNNING.append(x)
    most.append(len(RUNNING))
    await asyncio.sleep(0.01)
    RUNNING.remove(x)
    if x == 3:
        raise ValueError(x)
    return x


@tfrt.kernel("co.slow", timeout=0.05, retries=1)
async def slow() -> int:
    tries.append(len(tries))
    if len(tries) < 2:
        await asyncio.sleep(600)
    return len(tries)


STARTED, RUNNING, most, tries = threading.Event(), [], [], []


def start(name, host, kind="i32"):
    return tfrt.Program(f"""
func.func @main() -> {kind} {{
  %x = "co.{name}"() : () -> {kind}
  tfrt.return %x : {kind}
}}
""").run(host=host)


def ending(run):
    error = run.results[0].exception(20)
    return type(error).__name__, error.diagnostics[0].message, run.wait(20)


closed = asyncio.new_event_loop()
with tfrt.HostContext("s", loop=closed) as host:
    closed.close()
    print(ending(start("soon", host)))

with tfrt.HostContext("mstd:2") as host:
    run = start("never", host)
    STARTED.wait(20)
    run.cancel("enough")
    print(ending(run))
    print(ending(start("leave", host)), start("soon", host).result(20))


async def main():
    host = tfrt.HostContext("mstd:2", loop=asyncio.get_running_loop())
    run = start("never", host)
    await asyncio.to_thread(STARTED.wait, 20)
    try:
        start("soon", host).result(20)
    except tfrt.TfrtError as error:
        print("await the run" in str(error))
    return host, run


STARTED.clear()
host, run = asyncio.run(main())  # which cancels what is left
print(ending(run)[1:])
host.close()

print([value.exception(20) is None for value in [tfrt.call("co.few", i) for i in range(6)]], max(most))
print(tfrt.call("co.slow").result(20), tries)
print([value.result(20) for value in tfrt.Program("""
func.func @main(%x: i32) -> (i32, !tfrt.string) {
  %a, %b = "co.two"(%x) : (i32) -> (i32, !tfrt.string)
  tfrt.return %a, %b : i32, !tfrt.string
}
""").run(4)])
