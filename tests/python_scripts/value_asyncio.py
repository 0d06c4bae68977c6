# Runs and values as awaitables of asyncio: gather, wait, wait_for, as_completed, timeout, TaskGroup and wrap_future.
import asyncio
import threading

import tfrt_nb as tfrt

program = tfrt.Program("""
func.func @main(%a: i32, %b: i32) -> i32 {
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %q : i32
}
""")

@tfrt.kernel("aio.nap")
async def nap(x: int) -> int:
    await asyncio.sleep(0.02)
    return x


naps = tfrt.Program("""
func.func @main(%a: i32) -> i32 {
  %b = aio.nap %a
  tfrt.return %b : i32
}
""")


async def one(x):
    return await naps.run(x)


async def main():
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.01)

    ticking = asyncio.create_task(tick())
    first, second = tfrt.unavailable(), tfrt.unavailable()
    threading.Timer(0.1, second.set_result, ["two"]).start()
    threading.Timer(0.2, first.set_result, ["one"]).start()
    print(await asyncio.gather(first, second), ticks > 1)  # the loop went on
    ticking.cancel()
    print(await asyncio.wait_for(program.run(42, 6), 20))
    (value,) = program.run(45, 5)
    print(await asyncio.wrap_future(value.to_future()), await value)
    try:
        await program.run(1, 0)
    except tfrt.TfrtError as error:
        print("Divide by zero" in str(error))
    never = tfrt.unavailable()
    try:
        await asyncio.wait_for(never, 0.05)
    except asyncio.TimeoutError:
        print("not in time")
    never.set_result(1)
    print(await never)
    async with asyncio.timeout(20):
        print([await v for v in [*program.run(8, 2), *program.run(9, 3)]])
    print(await asyncio.gather(naps.run(1), naps.run(2).results[0]))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(i)) for i in range(3)]
    print([task.result() for task in tasks])
    done, pending = await asyncio.wait([asyncio.ensure_future(one(3)), asyncio.ensure_future(one(4))])
    print(sorted(task.result() for task in done), len(pending))
    for completed in asyncio.as_completed([naps.run(7), naps.run(7)]):
        print(await completed)

asyncio.run(main())
