"""Waits in slices: native code returns to Python now and then, so that signals are seen."""

from __future__ import annotations

import time
from collections.abc import Callable

from tfrt_runtime.callers import FOREVER
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.process import WAITS

SLICE_NS = 20_000_000
"""How long a waiting thread stays in native code before it lets Python see signals."""


def in_slices(
    step: Callable[[int], int],
    timeout: float | None,
    interrupted: Callable[[], bool],
    slice_ns: int = SLICE_NS,
) -> bool:
    """Call `step` with the end of one slice after the other, until it returns 0; see `WorkQueue.wait`."""
    now = time.monotonic_ns()
    deadline = None if timeout is None else now + int(min(timeout, FOREVER) * 1e9)

    def goes_on() -> bool:
        is_late = deadline is not None and time.monotonic_ns() >= deadline
        return not is_late and not INTERRUPTS.is_noted and not interrupted()

    former, WAITS.goes_on = WAITS.goes_on, goes_on
    try:
        while deadline is None or now < deadline:
            if step(now + slice_ns if deadline is None else min(now + slice_ns, deadline)) == 0:
                return True
            INTERRUPTS.raise_if_noted()
            if interrupted():
                return step(0) == 0
            now = time.monotonic_ns()
        return False
    finally:
        WAITS.goes_on = former
