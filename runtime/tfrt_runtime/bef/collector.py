"""Python's garbage collector, kept out of the way of what is large and all live."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection meanwhile, on any thread.

    What is made then is many small things and no garbage; to look for some among them, again and
    again while they get more, takes longer than to make them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
