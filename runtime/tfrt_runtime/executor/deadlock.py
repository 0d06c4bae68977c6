"""Why a run in which nothing happens will never end."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from typing import Protocol

from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.diagnostics import Diagnostic, error
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.context import Request
from tfrt_runtime.host.idleness import rest_of

ON_ITS_LOOP = (
    "this thread waits, and runs the event loop of the host, on which 'async def' kernels wait for their"
    " turn: await the run or its values, or let the host have a loop of its own"
)


def find_deadlock(
    request: Request, program: Executable, function: BefFunction, results: Sequence[AsyncValue]
) -> list[Diagnostic]:
    """What is wrong with a run that cannot go on by itself; nothing if it can, or is over.

    Any thread may ask.  A run that waits for somebody outside the runtime is not wrong: nobody knows
    what a thread will do that holds one of its values.
    """
    rest = rest_of(request.queue)
    if rest is None:
        return []
    place = program.file.location(function.location)
    if request.waits_for_this_thread():
        return [error(f"@{function.name}: {ON_ITS_LOOP}", place)]
    if request.promises_open():
        return []
    # A promise that was kept while we looked at the others has ended the rest, or the run.
    if rest != rest_of(request.queue) or is_over(request, results):
        return []
    text = f"@{function.name} cannot go on: nothing runs, nothing is queued, and {missing(results)}"
    return [error(text, place, request.promises.left_by_kernels())]


class Holder(Protocol):
    """An Execution, which holds the results of its run for others."""

    results: list[AsyncValue]


class ResultsOfRun:
    """The results of a run as they and the run's cancellation see each other (`AsyncValue.source`).

    A result outlives its run: this holds neither the request nor the program, nor the results.
    """

    __slots__ = ("_function", "_holder", "_program", "_request", "_values")

    def __init__(
        self,
        request: Request,
        program: Executable,
        function: BefFunction,
        holder: Holder,
    ) -> None:
        self._holder = weakref.ref(holder)
        self._request, self._program = weakref.ref(request), weakref.ref(program)
        self._function = function
        self._values = [weakref.ref(value) for value in holder.results]

    def why_never(self, value: AsyncValue) -> Sequence[Diagnostic]:
        """As `find_deadlock`, for one result."""
        request, program = self._request(), self._program()
        if request is None or program is None:
            return []
        return find_deadlock(request, program, self._function, [value])

    def cancel(self, value: AsyncValue, reason: Diagnostic) -> bool:
        """Cancel the run if no other undecided result is held outside of its Execution."""
        request = self._request()
        if request is None or any(self._is_wanted(other) for other in self._others(value)):
            return False
        request.cancel(reason)
        return True

    def _others(self, value: AsyncValue) -> list[weakref.ref[AsyncValue]]:
        return [other for other in self._values if other() is not value]

    def _is_wanted(self, reference: weakref.ref[AsyncValue]) -> bool:
        """Whether the result has a holder: a Python object, or natively, as an argument has it."""
        value = reference()
        if value is None or value.done():
            return False
        holder = self._holder()
        by_holder = holder is not None and any(value is one for one in holder.results)
        # Of Python's references two are this variable and the call's; of the native ones, one is
        # the run's and the other that of the Python object.
        return sys.getrefcount(value) > 2 + by_holder or value.references > 2

    def natives(self) -> list[int]:
        """The native values of those that Python holds, borrowed."""
        held = [reference() for reference in self._values]
        return [value.native for value in held if value is not None]

    def decide(self, failure: AsyncValue) -> None:
        """Make those that are not there yet the error that `failure` is."""
        for reference in self._values:
            if (value := reference()) is not None:
                value.decide(failure)


def is_over(request: Request, results: Sequence[AsyncValue]) -> bool:
    """Whether nothing of a run is left, and its results are there."""
    return request.is_leaving and all(value.done() for value in results)


def missing(results: Sequence[AsyncValue]) -> str:
    """Which results are unavailable."""
    numbers = [str(i) for i, value in enumerate(results) if not value.done()]
    if not numbers:
        return "some kernels have not run"
    if len(results) == 1:
        return "its result is unavailable"
    return f"result{'s' if len(numbers) > 1 else ''} {', '.join(numbers)} unavailable"
