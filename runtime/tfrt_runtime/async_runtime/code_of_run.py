"""Compiled code as one run that calls into it sees it (`context.Code`)."""

from __future__ import annotations

import weakref

from tfrt_runtime.async_runtime.runtime import AsyncRuntime
from tfrt_runtime.diagnostics import Diagnostic
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import Value, Waiter
from tfrt_runtime.native import layouts as at


def serve(runtime: AsyncRuntime, run: Request) -> None:
    """Let a run that begins call compiled code: it prints where the run does, and ends if that is cancelled.

    Where the run gets stuck, groups that lack members and results of calls become errors.
    """
    runtime.begin(run)
    run.code = CodeOfRun(runtime, run)
    if run.is_cancelled:  # the host was, before the run began
        run.code.cancelled()


class CodeOfRun:
    """The code of a host's runtime, for one of its runs.  Safe from any thread."""

    def __init__(self, runtime: AsyncRuntime, run: Request) -> None:
        self._runtime = runtime
        self._run = weakref.ref(run)

    def cancelled(self) -> None:
        """The run is cancelled: its code ends."""
        if (run := self._run()) is not None:
            self._runtime.end_code(run)

    def goes_on(self) -> bool:
        """Whether the run, which was found stuck, goes on: what it waits for has become an error."""
        if not self._runtime.has_settled():
            return True
        run = self._run()
        natives = [] if run is None else [value.native for value in run.held_results()]
        results = [made for made in map(_awaited_object, natives) if made]
        for made in results:
            self._runtime.abandon(made)
        return bool(results)

    def has_settled(self) -> bool:
        """Whether nothing that the run has started is left, as far as other runs' tasks let it be known.

        The run then hears of what its code did wrong.
        """
        if not self._runtime.has_settled():
            return False
        run = self._run()
        for mistake in self._runtime.take_mistakes():
            if run is not None and mistake not in run.diagnostics:
                run.report(mistake)
        return True

    def end_tasks(self, message: str) -> bool:
        """End the tasks that the run has left running when it was over; False if nothing runs."""
        run = self._run()
        return run is not None and self._runtime.end_tasks(run, message)

    def waits(self) -> list[Diagnostic]:
        """Notes on what threads wait for in compiled code at this moment."""
        return self._runtime.starvation.waits()


def _awaited_object(value: int) -> int:
    """The unresolved object of compiled code that a result of a run stands for, or 0.

    Nothing runs.  Such an object has a waiter that the call left which returned it.
    """
    library = native_process().library
    arrived = {library[f"compiled_kernels.{name}_arrived"] for name in ("result", "buffer")}
    while value and (state := Value.at(value).state) & at.STATE_BITS < at.CONCRETE:
        waiter = state & ~at.STATE_BITS
        while waiter:
            one = Waiter.at(waiter)
            if one.kind == at.WAIT_NOTIFY and one.first in arrived:
                return value
            waiter = one.next
        found = Value.at(value)
        value = found.target if found.is_indirect else 0
    return 0
