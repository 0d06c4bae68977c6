"""The outcome of a Python kernel's call: its results, or the error that they become."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import CoroutineType
from typing import Any

from tfrt_runtime.diagnostics import (
    AnyLocation,
    Diagnostic,
    Ending,
    Severity,
    TfrtError,
    counted,
    error,
    line_of,
    note,
)
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.failures import detach, is_own, printable
from tfrt_runtime.host.payload import INTEGER_BITS, SCALAR_TYPES, PayloadError, encode_scalar
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.values.async_value import AsyncValue, Future
from tfrt_runtime.host.values.fitting import CHAIN_TYPE, STRING_TYPE, fitting, takes_any
from tfrt_runtime.host.values.promises import OBJECT, from_future, is_awaited, unresolved
from tfrt_runtime.host.waiting import EndlessWaitError
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import BY_HAND, KernelError
from tfrt_runtime.kernels.users.retries import AttemptNote, TimeoutError
from tfrt_runtime.native import layouts as at

FOREIGN = ("attached to a different loop", "bound to a different event loop")
"""Phrases in asyncio's messages about a future or lock that belongs to another event loop."""


def items_of(returned: object, types: Sequence[str]) -> tuple[object, ...]:
    """Return the value of each result of a kernel, given the results' types.

    For one result, a tuple or list with one item is replaced with the item, with two exceptions:
    the result's type accepts any tuple or list, or the type is an array and the item is a number.

    Raises:
        KernelError: if the kernel returned a different number of values.
    """
    count = len(types)
    items: tuple[object, ...] = (returned,)
    if isinstance(returned, tuple | list):
        is_item = len(returned) == 1 and not takes_any(types[0])
        is_array = is_item and types[0] not in SCALAR_TYPES and isinstance(returned[0], int | float)
        if count != 1 or is_item and not is_array:
            items = tuple(returned)
    elif returned is None and count != 1:
        items = ()
    if len(items) != count:
        values, results = counted(len(items), "value"), counted(count, "result")
        raise KernelError(f"the kernel returned {values} for {results}")
    for item in items:
        if isinstance(item, CoroutineType):
            # Otherwise, Python would warn that the coroutine was never awaited.
            item.close()
            raise KernelError("the kernel returned a coroutine: await it in an 'async def' kernel")
    return items


def failed(
    request: Request,
    exception: BaseException,
    place: AnyLocation,
    calls: tuple[Diagnostic, ...] = (),
) -> Diagnostic:
    """Report a kernel's exception to the run, and return the error for its results.

    `calls` are notes that name the calls around the kernel.
    """
    found = diagnostic_of(exception, place)
    diagnostic = replace(found, notes=(*found.notes, *calls))
    request.report(diagnostic)
    return diagnostic


def nth_result(name: str, index: int, count: int) -> str:
    """Return the name of a kernel's result for messages; the index starts at 0."""
    return f"the result of '{name}'" if count == 1 else f"result {index + 1} of '{name}'"


def refusing(request: Request, place: AnyLocation, what: str) -> Callable[[str], Diagnostic]:
    """Return a function that handles a late result of the wrong type.

    The function makes an error from a message, reports it to the run, and returns it.
    """

    def refuse(message: str) -> Diagnostic:
        diagnostic = error(f"{what}: {message}", place)
        request.report(diagnostic)
        return diagnostic

    return refuse


def of_future(
    request: Request, future: Future, type_text: str, place: AnyLocation, what: str
) -> AsyncValue:
    """Return a value of type `type_text` that becomes available when a kernel's future is done.

    `what` names the result in messages.
    """
    return from_future(
        request.queue,
        future,
        type_text,
        refusing(request, place, what),
        lambda problem: failed(request, problem, place),
    )


def stay_open_for(
    request: Request, result: AsyncValue, given: AsyncValue, text: str, place: AnyLocation
) -> None:
    """Keep the run open until `result` is resolved, for which a kernel has returned `given`.

    `text` is as for `Promises.watch`.  Call this function only in kernels of the run, or during an
    activity that `Request.enter` added.
    """
    request.promises.watch(given, text, place, is_inside=given.is_indirect)
    request.enter_call()
    result.and_then(request.leave_call)


def pass_on(request: Request, exception: BaseException, diagnostic: Diagnostic) -> None:
    """Cancel the run if `exception` is a KeyboardInterrupt.

    The next thread that waits for the run raises the exception.
    """
    if isinstance(exception, KeyboardInterrupt):
        request.interrupt = exception
        request.cancel(diagnostic)


@functools.cache
def ordinary(type_text: str) -> tuple[int, int]:
    """Return the payload type of a result, and the class that native code requires, or 0."""
    if type_text in INTEGER_BITS or type_text in ("f32", "f64"):
        return SCALAR_TYPES[type_text], 0
    if type_text == CHAIN_TYPE:
        return at.TYPE_CHAIN, 0
    if type_text in (STRING_TYPE, OBJECT):
        return at.TYPE_OBJECT, id(str) if type_text == STRING_TYPE else 0
    # Native code leaves each result to Python code, which checks it, or awaits a future.
    return at.TYPE_UNKNOWN, 0


def settle(frame: KernelFrame, results: tuple[AsyncValue, ...], returned: object) -> None:
    """Resolve the results of a call to the values that its function returned.

    Raises:
        KernelError: if the number of values is wrong or a value does not fit its type; in that
            case, no result is resolved.
    """
    values: list[object] = []
    count, queue = len(results), frame.request.queue
    # While schedules are explored, each resolution is a choice (`on_resolve`).
    if (
        count == 1
        and queue.on_resolve is None
        and native_process().settle(
            queue.context(), results[0].address, *ordinary(results[0].type), returned
        )
    ):
        return
    items = items_of(returned, [result.type for result in results])
    for index, (result, item) in enumerate(zip(results, items, strict=True)):
        what = nth_result(frame.name, index, count)
        if is_awaited(item, result.type):
            values.append(of_future(frame.request, item, result.type, frame.location, what))
        elif isinstance(item, KernelError | AsyncValue):
            values.append(item)
        else:
            values.append(checked(result.type, item, what))
            count_array(frame.host, item, what)
    for index, (result, value) in enumerate(zip(results, values, strict=True)):
        if isinstance(value, AsyncValue):
            result.follow(value)
            if not value.done():
                text = unresolved(frame.name, index, BY_HAND)
                stay_open_for(frame.request, result, value, text, frame.location)
            continue
        with contextlib.suppress(RuntimeError):  # a cancellation has resolved it
            if isinstance(value, KernelError):
                result.set_error(failed(frame.request, value, frame.location, frame.calls.notes))
            else:
                result.emplace(value)


def settle_failed(
    frame: KernelFrame, results: tuple[AsyncValue, ...], problem: BaseException
) -> None:
    """Resolve a call's results to the exception that its function raised.

    Results that the function has already emplaced keep their values.
    """
    # Read these before detaching the exception, because its frames may hold the last references to
    # promises. A promise that was dropped earlier is already an error.
    kept = {i: own for i, own in frame.allocated.items() if own.done() and own.exception(0) is None}
    frame.allocated.clear()  # promises without other references are dropped silently
    diagnostic = failed(frame.request, problem, frame.location, frame.calls.notes)
    for index, value in kept.items():
        results[index].follow(value)
    for result in results:
        with contextlib.suppress(RuntimeError):  # it already has a value
            result.set_error(diagnostic)
    pass_on(frame.request, problem, diagnostic)


def count_array(host: HostContext, item: Any, what: str = "") -> None:
    """Count what a kernel returned toward its host's memory limit, if it is a numpy array.

    See `returned.count`.

    Raises:
        PayloadError: if the array exceeds the limit and `what` is empty.
        KernelError: if the array exceeds the limit and `what` names the result.
    """
    if not hasattr(type(item), "__array_finalize__"):  # this check does not import numpy
        return
    from tfrt_runtime.host.tensor.returned import count

    try:
        count(item, host.memory)
    except PayloadError as refused:
        if not what:
            raise
        raise KernelError(f"{what}: {refused}") from None


def checked(type_text: str, value: object, what: str) -> object:
    """Check that `value` fits a value of type `type_text`, and return it.

    `settle` calls this before it resolves any result.  `what` names the result in messages.

    Raises:
        KernelError: if `value` does not fit.
    """
    try:
        if type_text in SCALAR_TYPES:
            encode_scalar(type_text, value)
        return fitting(type_text, value)
    except PayloadError as wrong:
        raise KernelError(f"{what}: {wrong}") from None


def diagnostic_of(exception: BaseException, place: AnyLocation | None) -> Diagnostic:
    """Return an error at `place` whose cause is an exception in user code.

    A note names the line of user code.  The exception's traceback is cut to start at the kernel.
    It keeps source locations but no local variables.
    """
    detach(exception)
    notes: tuple[Diagnostic, ...] = ()
    is_ours = isinstance(exception, KernelError | PayloadError)
    if is_ours:
        message = printable(getattr(exception, "message", exception))
    elif isinstance(exception, KeyboardInterrupt):
        message = "interrupted"
    else:
        found = None
        if isinstance(exception, TfrtError) and exception.diagnostics:
            found = exception.diagnostics[0]  # the error of another program or of this wait
            text, message, notes = "", found.message, found.notes
            if found.location is not None and not isinstance(exception, EndlessWaitError):
                notes = (note("this failed", found.location), *notes)
        else:
            text, message = printable(exception), _said(exception)
            reasons = _reasons(exception)
            if isinstance(exception, BaseExceptionGroup):
                held = [_said(one) for one, how in reasons if not how]
                rest = f"; and {len(held) - 2} more" if len(held) > 2 else ""
                message += f": {'; '.join(held[:2])}{rest}"
            texts = [f"{how}{_said(one)}, {_place_of(one)}" for one, how in reasons[:_MAX_REASONS]]
            texts += [f"and {len(reasons) - len(texts)} more"] * (len(reasons) > len(texts))
            notes = tuple(note(each.removesuffix(", ")) for each in texts)
        if place_in_python := _place_of(exception):
            notes = (note(place_in_python), *notes)
        if isinstance(exception, RuntimeError) and any(said in text for said in FOREIGN):
            notes += (note(OTHER_LOOP),)
        if isinstance(exception, ValueError) and text.endswith("read-only"):  # numpy's words
            notes += (note("an array argument is read-only: change a copy, as in a = a.copy()"),)
        # Users added these notes with `add_note` or directly; a TfrtError's notes come from its
        # diagnostic.
        added = () if found is not None else _added(exception)
        notes += tuple(note(printable(one)) for one in added if not isinstance(one, AttemptNote))
    attempts = tuple(note(str(one)) for one in _added(exception) if isinstance(one, AttemptNote))
    cause = None if is_ours and exception.__traceback__ is None else exception
    is_interrupt = isinstance(exception, KeyboardInterrupt)
    ending = Ending.CANCELLED if is_interrupt else Ending.FAILED
    ending = Ending.TIMED_OUT if isinstance(exception, TimeoutError) else ending
    notes = (*notes[:_MAX_NOTES], *attempts)
    return Diagnostic(Severity.ERROR, message, place, notes, cause, ending)


def _added(exception: BaseException) -> list[object]:
    """Return the notes of an exception.  Users may have added objects of any type."""
    added = getattr(exception, "__notes__", None)
    return added if isinstance(added, list) else []


_MAX_NOTES = 8
"""Maximum number of notes of one error.

A program that waits for another program adds notes to that program's error, so nested waits could
add many.
"""
_MAX_REASONS = 5
"""Maximum number of exceptions in a group that get their own note; another note counts the rest."""


def _said(exception: BaseException) -> str:
    text = printable(exception)
    return f"{type(exception).__name__}: {text}" if text else type(exception).__name__


def _place_of(exception: BaseException) -> str:
    """Return the function and the line that raised, or "" if they are unknown.

    The line is the innermost line of user code, or of library code if no user code was running.
    """
    own_code, library = "", ""
    frames = exception.__traceback__
    while frames is not None:
        if not is_own(frames):
            code = frames.tb_frame.f_code
            line = line_of(code.co_filename, frames.tb_lineno or 0)
            said = f"raised in {code.co_name}, {line}"
            if code.co_filename.startswith(_LIBRARIES) or "-packages/" in code.co_filename:
                library = said
            else:
                own_code = said
        frames = frames.tb_next
    return own_code or library


_LIBRARIES = (os.path.dirname(os.__file__), "<frozen ")
"""Prefixes of the paths of Python's own files.

Importing `sysconfig` would take 3 ms and 0.4 MB.
"""


def _reasons(exception: BaseException) -> list[tuple[BaseException, str]]:
    """Return the exceptions that explain `exception`, each with its relation.

    The relation of a group's members is "".  The relation of an exception's cause is "caused by "
    or "raised while handling ".
    """
    found, left, seen = [], [(exception, "")], {id(exception)}
    while left:
        one, how = left.pop(0)
        held = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        if one is not exception and not held:
            found.append((one, how))
        reasons = [(each, "") for each in held]
        if one.__cause__ is not None:
            reasons.append((one.__cause__, "caused by "))
        elif one.__context__ is not None and not one.__suppress_context__:
            reasons.append((one.__context__, "raised while handling "))
        left[:0] = [each for each in reasons if id(each[0]) not in seen]
        seen.update(id(each) for each, _ in reasons)
    return found


OTHER_LOOP = (
    "an 'async def' kernel runs on its host's event loop, but awaits an object that belongs to "
    "another loop: create the object inside the kernel, or the host with "
    "HostContext(loop=asyncio.get_running_loop());"
    ' in a notebook, %config TFRT.loop = "notebook"'
)
