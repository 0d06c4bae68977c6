"""What comes to a run from outside the runtime, as steps: timers, coroutines, values that threads resolve.

Time is virtual: a timer may be chosen at once, whatever its delay, and the sleeps of a coroutine take no time.
A coroutine runs when it is chosen, to its end or to where it waits for something other than time.  Threads run
as they like, but what they resolve reaches the run when it is chosen.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable
from contextvars import Context
from typing import Any

from tfrt_runtime.diagnostics import Diagnostic, error
from tfrt_runtime.host.context import HostRun
from tfrt_runtime.host.queues.timer import Timer, TimerQueue
from tfrt_runtime.host.values.async_value import AsyncValue

PATIENCE_SECONDS = 2.0
"""So long a choice waits for what threads have not resolved: what may be chosen does not depend on their speed."""
_LOOK_SECONDS = 0.001

Offer = Callable[[Callable[[], object], Callable[[], bool], bool], bool]
"""`offer(action, is_open, is_python)`: on a thread that runs a chosen kernel, a step that calls `action`, and that
can be chosen while `is_open()`; with `is_python` it runs code of users.  False, and no step, on any other."""


class Outside:
    """What comes to the runs of one host, whose steps one thread chooses."""

    def __init__(self, offer: Offer) -> None:
        self.timers = _ChosenTimers(offer)
        self.loop = _ChosenLoop(offer)
        self._offer = offer
        self._held: set[AsyncValue] = set()
        self._late: set[object] = set()
        """What was waited for in vain."""

    def begin(self) -> None:
        """Another run begins."""
        self._held.clear()
        self._late.clear()

    def hold(self, request: HostRun, value: AsyncValue) -> AsyncValue:
        """What a kernel returns in the place of `value`, which a thread resolves: follows it when that is chosen."""
        held = request.allocate(value.type, _dropped)
        self._held.add(value)
        self._offer(lambda: held.follow(value), value.done, False)
        return held

    def wait(self) -> None:
        """Let threads and coroutines go on until what they have begun is resolved, or for a while."""
        end = time.monotonic() + PATIENCE_SECONDS
        while awaited := self._unresolved() - self._late:
            if time.monotonic() > end:
                self._late |= awaited
            time.sleep(_LOOK_SECONDS)
            self.loop.run_until_idle()

    def _unresolved(self) -> set[object]:
        self._held = {value for value in self._held if not value.done()}
        return {*self._held, *asyncio.all_tasks(self.loop)}

    def close(self) -> None:
        """Cancel the coroutines that are left."""
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_idle()
        self.loop.close()


def _dropped() -> Diagnostic:
    return error("the run has dropped a value that a thread was to resolve")


class _ChosenTimers(TimerQueue):
    """Timers of kernels are due when they are chosen."""

    def __init__(self, offer: Offer) -> None:
        super().__init__()
        self._offer = offer

    def at(self, due: float, callback: Callable[[], object]) -> Timer:
        timer = Timer(due, callback)
        if self._offer(timer.fire, lambda: not timer.is_cancelled, False):
            return timer
        return super().at(due, callback)


class _ChosenLoop(asyncio.SelectorEventLoop):
    """An event loop for the coroutines of kernels, each of which begins when it is chosen."""

    def __init__(self, offer: Offer) -> None:
        self._skipped = 0.0
        self._offer = offer
        super().__init__(_Skipping(self))

    def time(self) -> float:
        return super().time() + self._skipped

    def skip(self, seconds: float) -> None:
        """Let the time be so much later."""
        self._skipped += seconds

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        def begin() -> None:
            self.call_soon(callback, *args, context=context)
            self.run_until_idle()

        if not self.is_running() and self._offer(begin, lambda: True, True):
            return asyncio.Handle(begin, (), self)
        return super().call_soon_threadsafe(callback, *args, context=context)

    def run_until_idle(self) -> None:
        """Run what there is to run; what waits for time does not wait."""
        outer = asyncio._get_running_loop()  # the notebook's, where a cell explores
        asyncio._set_running_loop(None)
        try:
            self.run_forever()
        finally:
            asyncio._set_running_loop(outer)


class _Skipping(selectors.DefaultSelector):
    """Never waits: where only time has to pass, it has passed; where nothing is left, the loop stops."""

    def __init__(self, loop: _ChosenLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found and timeout is None:
            self._loop.stop()
        elif not found and timeout:
            self._loop.skip(timeout)
        return found
