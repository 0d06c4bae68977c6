"""How threads and tasks wait for values.

This module decides which threads work during a wait, and detects waits that would never end.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from tfrt_runtime.diagnostics import Diagnostic, TfrtError, deadline_in, require, seconds_until
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.values.held_value import HeldValue
from tfrt_runtime.host.waiting import NO_KERNEL, Maker, kernel_wait, look_seconds
from tfrt_runtime.native import layouts as at


class Source(Maker, Protocol):
    """A run that makes a value, as code that waits for the value sees it."""

    def why_never(self, value: Any, *, blocks: bool) -> Sequence[Diagnostic]:
        """Return why the value will never be resolved, or nothing if it may be resolved."""

    def name_of(self, value: Any) -> str:
        """Return the name of the value, for messages."""

    def cancel_for(self, value: Any, reason: Diagnostic) -> bool:
        """Cancel the run, unless other code holds other results of the run.

        Return whether the run was cancelled.
        """


class AwaitedValue(HeldValue):
    """A value for which threads and tasks can wait."""

    __slots__ = ("basis", "source")
    source: Callable[[], Source | None] | None
    """A function that returns the run that makes the value.

    It is None if no run makes the value.
    """
    basis: Sequence[weakref.ref[AwaitedValue]]
    """The values from which this value is computed, until it is resolved.

    The references are weak because the values may be promises.
    """

    async def resolved(self) -> None:
        """Return once the value is resolved.  Other tasks of the event loop run in the meantime."""
        import asyncio  # importing asyncio takes 20 ms; code that awaits has already imported it

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            advice = "with trio, write `await trio.to_thread.run_sync(value.result)`"
            raise RuntimeError(f"`await` needs a running loop of asyncio; {advice}") from None
        done = asyncio.Event()

        def wake() -> None:
            # The loop may already be closed.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(done.set)

        self.and_then(wake)
        # Wake up regularly: a sleeping event loop does not notice that a signal handler, such as a
        # notebook's, has cancelled this task.
        kernel = kernel_wait(self._queue, self._described, self.done)
        with self._queue.worked_for(), self._worked_for_elsewhere(), kernel as look:
            while not done.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(done.wait(), look_seconds())
                if not done.is_set():
                    look()
                    if found := self._why_never(blocks=False):
                        raise TfrtError(*found)

    def _why_never(self, *, blocks: bool = True) -> Sequence[Diagnostic]:
        """Return why the value will never be resolved, or nothing if it may be resolved.

        With `blocks`, assume that this thread does nothing but wait for the value.
        """
        first: Sequence[Diagnostic] = ()
        for value, run in self._makers():
            found = () if run is None else run.why_never(value, blocks=blocks)
            if not found:
                return ()
            first = first or found
        return first

    def _described(self) -> tuple[str, list[Source | None]]:
        """Return the value's name for messages about a waiting kernel.

        Also return the runs that make the value.
        """
        makers = self._makers()
        names = [run.name_of(value) for value, run in makers if run is not None]
        return ", ".join(names) or "a value", [run for _, run in makers]

    def _makers(self) -> list[tuple[AwaitedValue, Source | None]]:
        """Return the unresolved values from which this value is computed.

        Each value comes with the run that makes it, or with None.
        """
        if self.source is not None or not self.basis:
            return [(self, None if self.source is None else self.source())]
        found: list[tuple[AwaitedValue, Source | None]] = []
        for reference in self.basis:
            value = reference()
            if value is None:  # another thread is resolving it, and then this value
                found.append((self, None))
            elif not value.done():
                found += value._makers()
        return found

    def _queues(self) -> set[WorkQueue]:
        """Return the queues of the runs that make the value."""
        return {value._queue for value, run in self._makers() if run is not None}

    @contextlib.contextmanager
    def _worked_for_elsewhere(self) -> Iterator[None]:
        """Let other queues run their tasks inside the block.

        This thread runs the tasks of the value's own queue.
        """
        with contextlib.ExitStack() as stack:
            for queue in self._queues() - {self._queue}:
                stack.enter_context(queue.worked_for())
            yield

    def have_made(self) -> None:
        """Let queues compute the value even though no thread waits for it."""
        for queue in self._queues():
            with contextlib.ExitStack() as stack:
                stack.enter_context(queue.worked_for())
                if queue.threads == 0:  # workers need no help from now on
                    self.and_then(stack.pop_all().close)

    def _outcome(self, timeout: float | None) -> int:
        """Wait until this value is resolved; return the address of the native value that it became.

        The caller gets no reference.
        """
        value_outcome = native_process().quick.value_outcome
        outcome = self._found or value_outcome(self._address)
        if outcome == 0:
            if timeout is None:
                process, queue = native_process(), self._queue
                process.result(queue.address, self._address, 0)  # runs the queue's tasks
                INTERRUPTS.raise_if_noted()
                outcome = value_outcome(self._address)
            # `result` also returns if this thread must not work or has no work left, while other
            # threads may still resolve the value.
            if outcome == 0:
                self._wait(timeout)
                outcome = value_outcome(self._address)
        self._found = outcome
        return outcome

    def _wait(self, timeout: float | None) -> None:
        found: list[Diagnostic] = []

        def is_hopeless() -> bool:
            look()
            found.extend(self._why_never())
            return bool(found)

        kernel = (
            kernel_wait(self._queue, self._described, self.done) if timeout is None else NO_KERNEL
        )
        with self._worked_for_elsewhere(), kernel as look:
            is_over = wait_for([self], timeout, is_hopeless)
        if found:
            raise TfrtError(*found)
        if not is_over:
            raise TimeoutError(f"the value is still unavailable after {float(timeout or 0):.4g} s")


def wait_for(
    values: Iterable[AwaitedValue],
    timeout: float | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until all values are resolved; return False if `timeout` seconds pass first.

    In the meantime, this thread runs the tasks of the values' queues.  Signals are handled every
    few milliseconds.

    Raises:
        TfrtError: if `values` are not AsyncValues; located at the caller's line.
    """
    deadline = deadline_in(timeout)
    expected = "AsyncValues, as in wait_for([value]) or wait_for(run)"
    require(isinstance(values, Iterable), "what is waited for", expected, values)
    given = [*values]
    are_values = all(isinstance(value, AwaitedValue) for value in given)
    require(are_values, "what is waited for", expected, given)
    return all(
        value.done() or _wait_for_one(value, seconds_until(deadline), interrupted)
        for value in given
    )


def _wait_for_one(
    value: AwaitedValue, timeout: float | None, interrupted: Callable[[], bool]
) -> bool:
    process, queue = native_process(), value._queue
    latch = process.quick.latch_make(queue.context(), value.address)
    try:
        # The latch opens when the native value is resolved, but `decide` resolves only the Python
        # object. Therefore, also check `done`.
        is_over = queue.wait(
            latch + at.LATCH_PENDING, timeout, lambda: value.done() or interrupted()
        )
        return is_over or value.done()
    finally:
        process.quick.drop_latch(queue.context(), latch)
