"""Why a run in which nothing happens will never end."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.diagnostics import Diagnostic, error
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.context import Request
from tfrt_runtime.host.idleness import rest_of


def find_deadlock(
    request: Request, program: Executable, function: BefFunction, results: Sequence[AsyncValue]
) -> list[Diagnostic]:
    """What is wrong with a run that cannot go on by itself; nothing if it can, or is over.

    Any thread may ask.  A run that waits for somebody outside the runtime is not wrong: nobody knows
    what a thread will do that holds one of its values.
    """
    rest = rest_of(request.queue)
    if rest is None or request.promises_open():
        return []
    # A promise that was kept while we looked at the others has ended the rest, or the run.
    if rest != rest_of(request.queue) or is_over(request, results):
        return []
    text = f"@{function.name} cannot go on: nothing runs, nothing is queued, and {missing(results)}"
    place = program.file.location(function.location)
    return [error(text, place, request.promises.left_by_kernels())]


def why_never(
    request: Request, program: Executable, function: BefFunction
) -> Callable[[AsyncValue], list[Diagnostic]]:
    """What the results of a run ask while somebody waits for them (see `AsyncValue`).

    A result outlives its run: it holds neither the request nor the program.
    """
    of_request, of_program = weakref.ref(request), weakref.ref(program)

    def look(result: AsyncValue) -> list[Diagnostic]:
        request, program = of_request(), of_program()
        if request is None or program is None:
            return []
        return find_deadlock(request, program, function, [result])

    return look


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
