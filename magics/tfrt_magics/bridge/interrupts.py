"""Interrupts that are noticed at a good moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_noticed() -> Iterator[list[int]]:
    """Within: interrupts raise nothing; the list has one item for each that came.

    Only the main thread is ever interrupted; on any other, the list stays empty.
    """
    arrived: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield arrived
        return
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append(number))
    try:
        yield arrived
    finally:
        signal.signal(signal.SIGINT, before)
