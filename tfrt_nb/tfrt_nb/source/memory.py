"""Python's garbage collector, kept out of the way of large programs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collections_paused() -> Iterator[None]:
    """Without the cyclic garbage collector: a module that is being built is all live, and looking
    for garbage in it again and again while it grows takes longer than building it.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
