"""Many calls, of which only some are in flight: what a call holds is bounded, however many there
are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from tfrt_runtime.host.values.async_value import AsyncValue, when_all


class AtOnce:
    """Starts one more call whenever one has ended.  Lives as long as values of calls that are in
    flight.
    """

    def __init__(
        self,
        begun: int,
        count: int,
        start: Callable[[int, int], Sequence[AsyncValue]],
        is_cancelled: Callable[[], bool] = lambda: False,
        end: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the rest of `count` calls, of which the first `begun` have been started.

        Args:
            start: starts calls, from a number on a given number of them; the results of the first.
            is_cancelled: whether all that are left are to be started now, as they end at once.
            end: called when the last one has been started.
        """
        self._next, self._count = begun, count
        self._start, self._is_cancelled, self._end = start, is_cancelled, end
        self._ended = 0
        self._is_in_loop = False
        self._lock = threading.RLock()

    def follow(self, results: Sequence[AsyncValue]) -> None:
        """Go on when the call that gives these results has ended."""
        when_all(results, self._go_on)

    def _go_on(self) -> None:
        """A call has ended.  One that ends while it is started is counted here, and not nested."""
        with self._lock:
            self._ended += 1
            if self._is_in_loop:
                return
            self._is_in_loop = True
        while True:
            with self._lock:
                first, left = self._next, self._count - self._next
                if self._ended == 0 or left == 0:
                    self._is_in_loop = False
                    return
                self._ended -= 1
                count = left if self._is_cancelled() else 1
                self._next += count
            results = self._start(first, count)
            if first + count == self._count:
                self._end()
            elif count == 1:
                self.follow(results)
