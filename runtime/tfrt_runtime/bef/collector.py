"""Keep Python's garbage collector away from large structures that are entirely alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection within the block, on all threads.

    Such a block creates many small objects and no garbage.  Repeatedly searching them for garbage
    while their number grows takes longer than creating them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
