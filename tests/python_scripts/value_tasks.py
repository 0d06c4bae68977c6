# Runs and values as awaitables of asyncio: gather, wait, wait_for, as_completed, timeout and TaskGroup.
import asyncio

import tfrt_nb as tfrt

p = tfrt.Program(
    "func.func @main(%a: i32) -> i32 {\n  %b = tfrt.add.i32 %a, %a\n  tfrt.return %b : i32\n}"
)


@tfrt.kernel("aio.nap")
async def nap(x: int) -> int:
    await asyncio.sleep(0.02)
    return x


q = tfrt.Program(
    'func.func @main(%a: i32) -> i32 {\n  %b = "aio.nap"(%a) : (i32) -> i32\n  tfrt.return %b : i32\n}'
)


async def main():
    print(await p.run(4), await p.run(5).results[0])
    print(await asyncio.gather(*[q.run(i).results[0] for i in range(4)]))
    print(await asyncio.gather(q.run(1), q.run(2)))
    box = tfrt.unavailable()
    try:
        await asyncio.wait_for(p.run(box).results[0], 0.1)
    except TimeoutError:
        print("timeout")
    async with asyncio.timeout(5):
        print(await q.run(9))
    async with asyncio.TaskGroup() as tg:

        async def one(n):
            return await q.run(n)

        ts = [tg.create_task(one(i)) for i in range(3)]
    print([t.result() for t in ts])
    bad = p.run(tfrt.call("tfrt.div.i32", 1, 0)[0])
    try:
        await bad
    except tfrt.TfrtError as e:
        print("Divide by zero" in str(e))
    done, pending = await asyncio.wait(
        [asyncio.ensure_future(one(3)), asyncio.ensure_future(one(4))]
    )
    print(sorted(t.result() for t in done), len(pending))
    for c in asyncio.as_completed([q.run(7), q.run(7)]):
        print(await c)


asyncio.run(main())
