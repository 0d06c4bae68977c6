"""Two ways to the same answer: the first to finish wins, and the other is told to stop."""

import asyncio
import concurrent.futures

import tfrt_nb as tfrt

LOG: list[str] = []


@tfrt.kernel("ask.cache")
async def cache(key: str) -> str:
    await asyncio.sleep(0.05)
    return f"{key} from the cache"


@tfrt.kernel("ask.origin")
async def origin(key: str) -> str:
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        LOG.append("the origin was told to stop")
        raise
    return f"{key} from the origin"


@tfrt.program
def quick(key: str):  # type: ignore[no-untyped-def]
    return cache(key)


@tfrt.program
def slow(key: str):  # type: ignore[no-untyped-def]
    return origin(key)


def main() -> None:
    runs = [quick("tea"), slow("tea")]
    futures = {run.results[0].to_future(): run for run in runs}
    done, late = concurrent.futures.wait(futures, 60, concurrent.futures.FIRST_COMPLETED)
    for future in done:
        print(future.result())
    for future in late:
        futures[future].cancel("another one was faster")
        try:
            futures[future].result(60)
        except tfrt.CancelledError as error:
            print("cancelled:", error.diagnostics[0].message)
        futures[future].wait(60)
    tfrt.default_host().quiesce(60)
    print(*LOG)


if __name__ == "__main__":
    main()
