"""Test the work between cells on a page's only thread, here on asyncio's loop."""

from __future__ import annotations

import asyncio

from tfrt_runtime.host.one_thread import OneThread

SOON, LATE = 0.01, 60.0


def test_work_that_is_due_soon_does_not_wait_for_a_later_timer() -> None:
    async def between_cells() -> int:
        one = OneThread()
        done = asyncio.Event()
        one.add(done.set)
        await done.wait()  # the source has run once, without a later time of its own
        done.clear()
        one.wake(LATE)
        one.wake(SOON)
        await asyncio.wait_for(done.wait(), LATE / 2)
        done.clear()
        one.wake(SOON)
        one.wake(LATE)
        await asyncio.wait_for(done.wait(), LATE / 2)
        return len(one._sources)

    assert asyncio.run(between_cells()) == 1
