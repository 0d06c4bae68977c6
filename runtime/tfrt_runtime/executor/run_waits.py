"""Ways to wait for a run.

A waiting thread runs tasks until the results are available or the run has finished.  In the
meantime, a callback can receive the run's progress (`Progress`), and a loop can receive its results
in the order in which they are resolved (`AsCompleted`).
"""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import copy_context
from functools import partial

from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, counted, deadline_in, seconds_until
from tfrt_runtime.executor.calls import Entry
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.default_host import Returning
from tfrt_runtime.host.failures import for_users
from tfrt_runtime.host.interrupts import INTERRUPTS, WAS_RAISED
from tfrt_runtime.host.process import MISSING, native_process, shielded
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.run_parts import within
from tfrt_runtime.host.structs import Context
from tfrt_runtime.host.values.async_value import AsyncValue, make_error, make_unavailable
from tfrt_runtime.host.values.waiting import wait_for
from tfrt_runtime.host.waiting import NO_KERNEL, kernel_wait, rest_of


class AsCompleted:
    """An iterator over values in the order in which they are resolved.

    It works with `for` and `async for`.
    """

    def __init__(self, values: Sequence[AsyncValue], timeout: float | None) -> None:
        """Iterate over `values`.  The time limit of `timeout` seconds starts now."""
        self._values = values
        self._timeout, self._deadline = timeout, deadline_in(timeout)
        self._arrived: deque[AsyncValue] = deque()
        self._given = self._open = 0
        self._next: AsyncValue | None = None
        """The value for which the iterator waits.

        This value becomes available when another item of `values` is resolved.
        """
        self._lock = threading.RLock()
        for value in values:
            value.and_then(partial(self._arrive, value))

    def __iter__(self) -> AsCompleted:
        return self

    def __aiter__(self) -> AsCompleted:
        return self

    def __next__(self) -> AsyncValue:
        """Return the next value that is resolved.

        In the meantime, this thread runs the queue's tasks.

        Raises:
            TimeoutError: if no value is resolved in time.
            TfrtError: if the remaining values will never be resolved.
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
        """Return the next value that is resolved.

        In the meantime, the event loop runs other tasks.
        """
        import asyncio  # a loop is running, so asyncio is loaded

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
        # Outside the lock: this runs callbacks of the code that awaits the value.
        if waited is not None:
            waited.emplace()

    def _waited(self) -> AsyncValue | None:
        """Return the value to wait for, or None if a value is ready or all have been returned."""
        with self._lock:
            if self._arrived or self._given == len(self._values):
                return None
            while self._values[self._open].done():  # `_arrive` is about to be called
                if self._open + 1 == len(self._values):
                    break
                self._open += 1
            waited = self._next = make_unavailable(self._values[0].queue)
            # One unresolved value represents them all: if it can never be resolved, the run is
            # stuck.
            waited.basis = (weakref.ref(self._values[self._open]),)
            return waited

    def _take(self) -> AsyncValue:
        self._given += 1
        return self._arrived.popleft()

    def _late(self) -> TimeoutError:
        left, total = len(self._values) - self._given, len(self._values)
        which = f"{left} of {counted(total, 'result')}"
        return TimeoutError(f"{which} still unavailable after {float(self._timeout or 0):.4g} s")


PROGRESS_INTERVAL = 1 / 30
"""The minimum time between two calls of a progress callback, in seconds."""


class Progress:
    """Calls a callback with a run's progress, on the host's timer thread."""

    def __init__(
        self,
        request: Request,
        progress: Callable[[], tuple[int, int]],
        callback: Callable[[int, int], None],
    ) -> None:
        """Follow the run from now on.  `progress` returns the run's progress."""
        self._request = request
        self._progress = progress
        self._callback = callback
        self._context = copy_context()
        self._told: tuple[int, int] | None = None
        self._next = 0.0
        """The earliest time of the next call, by `time.monotonic`."""
        request.on_done(self._finish)
        self._look_again()

    def _look_again(self) -> None:
        with suppress(RuntimeError):  # the host is closed, so its run is over
            self._request.host.timers.at(self._next, self._tell)

    def _tell(self) -> None:
        if self._request.is_done:
            return
        self._say(self._progress())
        self._next = time.monotonic() + PROGRESS_INTERVAL
        self._look_again()

    def _finish(self) -> None:
        try:
            self._request.host.timers.at(self._next, self._tell_end)
        # The host is closed, so it has no timer thread anymore.
        except RuntimeError:
            self._tell_end()

    def _tell_end(self) -> None:
        # The end is reported even if the progress has not changed since the last report.
        self._told = None
        self._say(self._progress())

    def _say(self, found: tuple[int, int]) -> None:
        if found != self._told:
            self._told = found
            shielded(lambda: within(self._context, self._callback, *found))


_ABANDONING = threading.RLock()
SETTLING_SECONDS = (20e-6, 40e-6, 80e-6, 160e-6, 320e-6, 640e-6)
"""Seconds between checks for whether a finished run's tasks have ended."""


class RunWaits(Returning):
    """A started run for which threads can wait; the base class of `Execution`."""

    request: Request
    program: Executable
    _entry: Entry
    is_stuck = False
    """Whether a waiting thread has found that the run cannot continue.

    If so, the diagnostics say why.
    """

    @property
    def function(self) -> BefFunction:
        """The function that this run executes."""
        return self.program.functions[self._entry.index]

    @property
    def results(self) -> Sequence[AsyncValue]:
        """The results, which may be unavailable."""
        request = self.request
        return request.held or request.hold_results()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The kernels' errors, in the order in which they were raised.

        They do not include errors that the program has replaced (`tfrt.recover`) or kept
        (`errors="keep"`), unless it also returns them.
        """
        recovered = self.request.recovered
        returned = {
            id(one)
            for value in (self.results if recovered else ())
            if value.done() and (problem := value.exception(0)) is not None
            for first in problem.diagnostics
            for one in (first, *first.others)
        }
        return [
            one
            for one in self.request.diagnostics
            if id(one) not in recovered or id(one) in returned
        ]

    def _running_kernels(self) -> list[int]:
        """Return the numbers of the program's kernels that threads of the host are running."""
        found, process = [], native_process()
        for context in map(Context.at, self.request.queue.contexts):
            if context.request == self.request.address and context.epoch % 2 and context.record:
                owner, number = process.owner_of(context.record)
                found += [number] if owner is self.program else []
        return found

    def done(self) -> bool:
        """Return whether all results are resolved.

        If the run has no results, return whether the run has finished.
        """
        return all(value.done() for value in self.results) if self.results else self.is_done

    @property
    def is_done(self) -> bool:
        """Whether the run has no work left."""
        return self.request.is_done

    def wait_for_results(
        self, timeout: float | None = None, interrupted: Callable[[], bool] = lambda: False
    ) -> bool:
        """Wait until all results are resolved.

        Return False if `timeout` seconds pass first, or if the run is `stuck`.

        Raises:
            KeyboardInterrupt: if the user interrupts the wait or one of the run's kernels.
        """
        was_stuck = self.is_stuck
        with self._kernel_wait(timeout, self.done) as look:
            is_over = wait_for(self.results, timeout, self._watch(interrupted, look))
        self._raise_interrupt()
        return is_over and self.is_stuck == was_stuck

    def wait(
        self, timeout: float | None = None, interrupted: Callable[[], bool] = lambda: False
    ) -> bool:
        """Wait until the run has finished.

        Return False if `timeout` seconds pass first, or if the run is `stuck`.

        The wait includes tasks that compiled functions have left running, even those of the host's
        other runs, because a task does not identify its run.  If the time passes first, workers
        continue the run, and so does the next wait.  On the queue `s`, Python and native kernels
        run on the waiting thread, which finishes its current kernel even if the time has passed.
        If the host has compiled functions, another thread finishes that kernel.

        Raises:
            KeyboardInterrupt: if the user interrupts the wait.  The run continues, unless the
                interrupt was raised in one of its Python kernels, which cancels the run.
        """
        try:
            return self._wait(timeout, interrupted)
        except KeyboardInterrupt as stop:
            raise for_users(stop)

    def _wait(self, timeout: float | None, interrupted: Callable[[], bool]) -> bool:
        deadline = None if timeout is None else deadline_in(timeout)
        was_stuck = self.is_stuck
        queue = self.request.queue
        # The fast path: most runs have finished when this thread runs out of work.
        is_over = (
            timeout is None
            and queue.process.end(queue.address, self.request.address) is not MISSING
        )
        if not is_over:
            INTERRUPTS.raise_if_noted()
            with self._kernel_wait(timeout, lambda: self.request.is_done) as look:
                is_over = self.request.wait(timeout, self._watch(interrupted, look))
        self._raise_interrupt()
        if self.is_stuck != was_stuck:
            return False  # even if a worker has finished the rest in the meantime
        return self._settle(deadline, interrupted) if is_over else self._is_abandoned()

    def _settle(self, deadline: float | None, interrupted: Callable[[], bool]) -> bool:
        """Run tasks until compiled code has left none unfinished.

        Return False if the time passes first.
        """
        code = self.request.code
        if code is None or code.has_settled():
            return True
        if self.request.queue.threads > 0:
            # A worker's task usually ends a few microseconds after it has resolved the last result,
            # but `help` checks only every 20 ms.
            for pause in SETTLING_SECONDS:
                time.sleep(pause)
                if code.has_settled():
                    return True
        has_settled = False

        def is_over() -> bool:
            nonlocal has_settled
            has_settled = code.has_settled()
            return has_settled or interrupted()

        # This word never becomes 0: only `is_over` or the time limit ends the wait.
        forever = ctypes.c_int64(1)
        # `help` finishes its task even if the time has passed. With a time limit, `wait` lets
        # another thread run such a task.
        work = self.request.queue.help if deadline is None else self.request.queue.wait
        work(ctypes.addressof(forever), seconds_until(deadline), is_over)
        return has_settled

    def _kernel_wait(
        self, timeout: float | None, is_over: Callable[[], bool]
    ) -> AbstractContextManager[Callable[[], None]]:
        """If this thread runs a kernel, register the kernel's wait for the end of the run."""
        if timeout is not None:
            return NO_KERNEL
        what = f"the end of @{self.function.name}"
        return kernel_wait(self.request.queue, lambda: (what, [self.request]), is_over)

    def _watch(
        self, interrupted: Callable[[], bool], look: Callable[[], None]
    ) -> Callable[[], bool]:
        """Return the function with which a waiting thread regularly checks whether to stop waiting.

        `look` may raise an exception, which ends the wait.
        """

        def is_over() -> bool:
            look()
            return (
                interrupted()
                or self._raise_interrupt()
                or self._is_abandoned()
                or self._report_stuck()
            )

        return is_over

    def _is_abandoned(self) -> bool:
        """Return whether the run is cancelled and waits only for code outside the runtime."""
        is_decided = self.request.is_cancelled and all(value.done() for value in self.results)
        if not is_decided or rest_of(self.request.queue) is None:
            return False
        found = self.stuck()
        return not (found and _abandon_values(self.request, found[0]))

    def _report_stuck(self) -> bool:
        code, found = self.request.code, self.stuck()
        if not found or (code is not None and code.goes_on()):
            return False  # even if the run was stuck before: its rest is finishing
        was_stuck, self.is_stuck = self.is_stuck, True
        for diagnostic in () if was_stuck else found:
            self.request.report(diagnostic)
        _abandon_values(self.request, found[0])
        return True

    def stuck(self) -> list[Diagnostic]:
        """Return why the unfinished run is stuck: no work is running or queued.

        Return an empty list while the run is waiting for a value that code outside the runtime may
        resolve (`waiting_for`).
        """
        return list(self._entry.why_never(self.request, self.results, blocks=True))

    def waiting_for(self) -> list[Diagnostic]:
        """Return notes on external values and compiled code's objects that the run waits for."""
        code = self.request.code
        return [*self.request.promises.notes(), *(() if code is None else code.waits())]

    def _raise_interrupt(self) -> bool:
        """Raise an interrupt that a Python kernel has raised.

        Do nothing if a result has already raised the interrupt.
        """
        interrupt, self.request.interrupt = self.request.interrupt, None
        if interrupt is None or getattr(interrupt, WAS_RAISED, False):
            return False
        raise KeyboardInterrupt


def _abandon_values(request: Request, failure: Diagnostic) -> bool:
    """Turn unresolved values that kernels have returned into errors, because the run is stuck.

    The rest of the run can then finish.  Return whether any value became an error.
    """
    failed, queue = make_error(request.queue, failure), request.queue
    is_first = False
    with _ABANDONING:  # another thread may be doing the same
        for value in request.promises.given_by_kernels():
            if value.done():
                continue
            is_first = True
            native_process().quick.value_add_reference(failed.address)
            native_process().slow.value_break(queue.context(), value.native, failed.address)
    queue.hand_over()
    return is_first
