"""Objects that exist once per process.

The first thread that needs such an object creates it.  Other threads wait until it exists.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Return a function that calls `make` once per process, and always returns the same object.

    With `functools.cache` alone, simultaneous callers would each make an object.  If `make` raises
    an exception, it propagates to the caller for which `make` was called, and the next caller tries
    again.
    """
    lock = threading.RLock()
    made: list[T] = []

    @functools.cache  # later calls find the object here, without taking the lock
    @functools.wraps(make)
    def get() -> T:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return get
