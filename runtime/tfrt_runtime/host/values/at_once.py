"""Run many calls, but keep only a limited number in flight, to save memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from tfrt_runtime.host.values.async_value import AsyncValue, when_all


class AtOnce:
    """Starts another call whenever one has finished.

    This object lives as long as the results of calls in flight.
    """

    def __init__(
        self,
        begun: int,
        count: int,
        start: Callable[[int, int], Sequence[AsyncValue]],
        is_cancelled: Callable[[], bool] = lambda: False,
        end: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the rest of `count` calls.  The first `begun` calls have already been started.

        Args:
            start: a function of an index and a count.  It starts that many calls, from that index
                on, and returns the results of the first one.
            is_cancelled: returns whether to start all remaining calls now, because cancelled calls
                finish immediately.
            end: called when the last call has been started.
        """
        self._next, self._count = begun, count
        self._start, self._is_cancelled, self._end = start, is_cancelled, end
        self._ended = 0
        self._is_in_loop = False
        self._lock = threading.RLock()

    def follow(self, results: Sequence[AsyncValue]) -> None:
        """Continue when the call with the given results has finished."""
        when_all(results, self._go_on)

    def _go_on(self) -> None:
        """Count a finished call, and start the next one.

        A call may finish while this method is starting it; this method is then called again from
        inside itself.  In that case, the outer call's loop starts the next call.
        """
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
