"""Many calls at once: their progress, how many are in flight, and what they hold."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import tfrt_nb as tfrt

UNTYPED: Any = tfrt
SLOW = 60


def test_a_coroutine_counts_when_it_is_over() -> None:
    gate, begun = asyncio.Event(), threading.Event()
    loops = []

    @tfrt.kernel("progress.wait")
    async def wait(x: int) -> int:
        loops.append(asyncio.get_running_loop())
        if len(loops) == 3:
            begun.set()
        await gate.wait()
        return x

    batch = tfrt.call_each(wait, [1, 2, 3])
    assert begun.wait(SLOW)
    decided = batch.progress[0]
    loops[0].call_soon_threadsafe(gate.set)
    assert batch.wait(SLOW)
    assert (decided, len(set(batch.progress))) == (0, 1)
    assert repr(batch) == "<Batch @progress.wait done, 3 calls>"
