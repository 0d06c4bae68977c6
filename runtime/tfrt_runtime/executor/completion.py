"""The results of a run one by one, in the order in which they are decided."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Sequence
from functools import partial

from tfrt_runtime.callers import deadline_in, seconds_until
from tfrt_runtime.diagnostics import TfrtError, counted
from tfrt_runtime.host.failures import for_users
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable


class AsCompleted:
    """An iterator, for `for` and for `async for`, over values in the order in which they are
    decided.
    """

    def __init__(self, values: Sequence[AsyncValue], timeout: float | None) -> None:
        """`timeout` seconds count from now."""
        self._values = values
        self._timeout, self._deadline = timeout, deadline_in(timeout)
        self._arrived: deque[AsyncValue] = deque()
        self._given = self._open = 0
        self._next: AsyncValue | None = None
        """The value that the iterator waits for: available when one more result has arrived."""
        self._lock = threading.RLock()
        for value in values:
            value.and_then(partial(self._arrive, value))

    def __iter__(self) -> AsCompleted:
        return self

    def __aiter__(self) -> AsCompleted:
        return self

    def __next__(self) -> AsyncValue:
        """The next value that is decided; this thread works for it meanwhile.

        Raises:
            TimeoutError: if none is in time.
            TfrtError: if those that are left will never be decided.
        """
        while (waited := self._waited()) is not None:
            try:
                waited.result(seconds_until(self._deadline))
            except TimeoutError as late:
                raise self._late() from late.__cause__
            except (TfrtError, KeyboardInterrupt) as problem:
                raise for_users(problem)
        if not self._arrived:
            raise StopIteration
        return self._take()

    async def __anext__(self) -> AsyncValue:
        """The same in a coroutine, whose loop goes on meanwhile."""
        import asyncio  # a loop runs, so it is loaded

        while (waited := self._waited()) is not None:
            try:
                async with asyncio.timeout(seconds_until(self._deadline)):
                    await waited.resolved()
            except TimeoutError:
                raise self._late() from None
        if not self._arrived:
            raise StopAsyncIteration
        return self._take()

    def _arrive(self, value: AsyncValue) -> None:
        with self._lock:
            self._arrived.append(value)
            waited, self._next = self._next, None
        if waited is not None:
            waited.emplace()

    def _waited(self) -> AsyncValue | None:
        """Return the value to wait for; None if a result is ready, or if all have been returned."""
        with self._lock:
            if self._arrived or self._given == len(self._values):
                return None
            while self._values[self._open].done():  # its callback is about to tell
                if self._open + 1 == len(self._values):
                    break
                self._open += 1
            waited = self._next = make_unavailable(self._values[0].queue)
            # One represents all: if it can never come, the run is stuck.
            waited.basis = (weakref.ref(self._values[self._open]),)
            return waited

    def _take(self) -> AsyncValue:
        self._given += 1
        return self._arrived.popleft()

    def _late(self) -> TimeoutError:
        left, total = len(self._values) - self._given, len(self._values)
        which = f"{left} of {counted(total, 'result')}"
        return TimeoutError(f"{which} still unavailable after {self._timeout:.4g} s")
