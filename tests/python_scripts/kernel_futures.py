# A future that a kernel returns is awaited, where its result has a type; a result that is any object is the future itself.
import asyncio
import concurrent.futures

import tfrt_nb as tfrt

POOL = concurrent.futures.ThreadPoolExecutor(1)


@tfrt.kernel("future.plain")
def plain(x: int) -> int:
    return POOL.submit(lambda: x + 1)


@tfrt.kernel("future.blocking", blocking=True)
def blocking(x: int) -> concurrent.futures.Future[int]:
    return POOL.submit(lambda: x + 2)


@tfrt.kernel("future.retried", retries=1)
def retried(x: int) -> int:
    return POOL.submit(lambda: x + 3)


@tfrt.kernel("future.later")
async def later(x: int) -> int:
    async def add() -> int:
        return x + 4

    return asyncio.get_running_loop().create_task(add())


@tfrt.kernel("future.fails")
def fails(x: int) -> int:
    return POOL.submit(lambda: x / 0)


@tfrt.kernel("future.wrong")
def wrong(x: int) -> int:
    return POOL.submit(lambda: "text")


LOOP = asyncio.new_event_loop()


@tfrt.kernel("future.stopped")
def stopped(x: int) -> int:
    return LOOP.create_future()


@tfrt.kernel("future.two")
def two(x: int) -> tuple[concurrent.futures.Future[int], int]:
    return POOL.submit(lambda: x + 5), x


@tfrt.kernel("future.object")
def of_object(x: int) -> object:
    return POOL.submit(lambda: x)


for name in ("plain", "blocking", "retried", "later", "fails", "wrong", "stopped"):
    program = tfrt.Program(f"""
func.func @main(%x: i32) -> i32 {{
  %y = future.{name} %x
  tfrt.return %y : i32
}}
""")
    run = program.run(1)
    try:
        print(name, run.result(20))
    except tfrt.TfrtError as error:
        print(name, error, type(error.__cause__).__name__)
program = tfrt.Program("""
func.func @main(%x: i32) -> (i32, i32, !tfrt.object) {
  %y, %z = future.two %x
  %o = future.object %x
  tfrt.return %y, %z, %o : i32, i32, !tfrt.object
}
""")
first, second, third = program.run(1).result(20)
print(first, second, type(third).__name__, third.result())
try:
    tfrt.Program("""
func.func @main(%x: i32) -> f32 {
  %y = "future.blocking"(%x) : (i32) -> f32
  tfrt.return %y : f32
}
""").run(1)
except tfrt.TfrtError as error:
    print(error)
LOOP.close()
POOL.shutdown()
