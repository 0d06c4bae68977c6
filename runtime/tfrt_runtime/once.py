"""An object that exists once per process: the first thread that needs it creates it, while others
wait.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """`make` as a function that makes its result once per process, and then returns the same
    object.

    `functools.cache` alone lets threads that ask at the same moment make one object each, of which
    it keeps one.  What `make` raises goes to its caller, and the next caller makes it anew.
    """
    lock = threading.RLock()
    made: list[T] = []

    @functools.cache  # in front of the lock: later calls do not take it
    @functools.wraps(make)
    def get() -> T:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return get
