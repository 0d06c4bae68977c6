"""What waits for a value through one of its objects in Python."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tfrt_runtime.host.process import shielded

ORDER = threading.RLock()
"""Held while callbacks are added or taken.  Within, a collection may end a value, and so call what waits for it."""


class Callbacks:
    """What waits for a value through one of its objects; called once, in order.

    It does not hold the object: a promise must be able to die.
    """

    __slots__ = ("_waiting",)

    def __init__(self, first: Callable[[], None]) -> None:
        self._waiting: list[Callable[[], None]] | None = [first]

    def add(self, waiter: Callable[[], None]) -> bool:
        """Call `waiter` behind the others; False if they were called already.  Within `ORDER`."""
        if self._waiting is None:
            return False
        self._waiting.append(waiter)
        return True

    def __call__(self) -> None:
        with ORDER:
            waiting, self._waiting = self._waiting or [], None
        waiting.reverse()
        while waiting:  # the traceback of one that raises holds this frame, which must hold none
            shielded(waiting.pop())
