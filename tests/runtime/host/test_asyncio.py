"""AsyncValues awaited: the event loop goes on, whatever queue the value belongs to."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import (
    AsyncValue,
    make_available,
    make_error,
    make_unavailable,
)


async def value_of(value: AsyncValue) -> object:
    return await value


def test_an_available_value_is_there_at_once(host: HostContext) -> None:
    assert asyncio.run(value_of(make_available(host.work_queue, 3, "i32"))) == 3


def test_an_error_is_raised_where_it_is_awaited(host: HostContext) -> None:
    with pytest.raises(TfrtError, match="bad"):
        asyncio.run(value_of(make_error(host.work_queue, error("bad"))))


def test_other_tasks_go_on_while_one_awaits(host: HostContext) -> None:
    async def main() -> list[object]:
        value = make_unavailable(host.work_queue, "i32")
        waiting = asyncio.create_task(value_of(value))
        steps: list[object] = []
        for step in range(3):
            await asyncio.sleep(0)
            steps.append((step, waiting.done()))
        value.emplace(42)
        return [*steps, await waiting]

    assert asyncio.run(main()) == [(0, False), (1, False), (2, False), 42]


def test_a_value_that_another_thread_resolves_wakes_the_loop(host: HostContext) -> None:
    async def main() -> object:
        value = make_unavailable(host.work_queue, "i32")
        waiting = asyncio.create_task(value_of(value))
        await asyncio.sleep(0)
        thread = threading.Thread(target=value.emplace, args=(7,))
        thread.start()
        result = await waiting
        thread.join()
        return result

    assert asyncio.run(main()) == 7


def test_many_values_are_gathered(host: HostContext) -> None:
    async def main() -> list[object]:
        values = [make_unavailable(host.work_queue, "i32") for _ in range(20)]
        waiting = asyncio.gather(*map(value_of, values))
        await asyncio.sleep(0)
        for number, value in enumerate(values):
            value.emplace(number)
        return await waiting

    assert asyncio.run(main()) == [*range(20)]


def test_an_await_that_is_cancelled_leaves_the_value_alone(host: HostContext) -> None:
    async def main() -> object:
        value = make_unavailable(host.work_queue, "i32")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(value_of(value), 0.01)
        value.emplace(1)
        return await value

    assert asyncio.run(main()) == 1
