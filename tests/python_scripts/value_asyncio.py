# "await, as in concurrent.futures"; "to_future() ... so that wait, as_completed, asyncio.wrap_future take it".
import asyncio
import threading

import tfrt_nb as tfrt

program = tfrt.Program("""
func.func @main(%a: i32, %b: i32) -> i32 {
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %q : i32
}
""")

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
    async with asyncio.timeout(20):
        print([await v for v in [*program.run(8, 2), *program.run(9, 3)]])

asyncio.run(main())
