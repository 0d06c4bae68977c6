"""Kernels that call the program's functions from Python or accept errors as arguments.

`tfrt.map` calls a function for each item of a list whose length is known only at run time.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Callable, Iterable, Sized
from dataclasses import replace
from itertools import takewhile
from typing import Any

from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.failures import in_element
from tfrt_runtime.host.payload import PayloadError, as_python
from tfrt_runtime.host.structs import Context
from tfrt_runtime.host.values.async_value import AsyncValue, make_available, when_all
from tfrt_runtime.host.values.at_once import AtOnce
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import (
    KernelError,
    KernelRegistry,
    Keyword,
    Parameters,
    PythonKernel,
)

REGISTRY = KernelRegistry("functions")

_once = threading.RLock()


@REGISTRY.kernel("tfrt.once", frame=True, raw=True)
def once(frame: KernelFrame, *arguments: AsyncValue) -> AsyncValue | tuple[AsyncValue, ...]:
    """Call the function once per run; later calls return the results of the first call."""
    key = f"tfrt.once @{frame.functions[0].name}"
    with _once:  # two threads may make the first call at the same time
        results: list[AsyncValue] | None = frame.resources.get(key, list)
        if results is None:
            results = frame.resources.create(key, frame.functions[0].execute(arguments))
    return results[0] if len(results) == 1 else tuple(results)


@REGISTRY.kernel("tfrt.captured", attributes=("i64",), frame=True)
def captured(frame: KernelFrame, slot: int) -> object:
    """Return a Python object that a traced function captured.

    The program's text does not contain the object.
    """
    held = getattr(frame.request.program, "captured", ())
    if not 0 <= slot < len(held):
        raise KernelError(
            "the object that was captured here exists only in the "
            "traced Python program, not in its text or file: pass it as an argument"
        )
    found: object = held[slot]
    return found


@REGISTRY.kernel("tfrt.value")
def value(item: object) -> object:
    """Return an object as a value of the result's type, after checking that the object fits."""
    return item


@REGISTRY.kernel("tfrt.list")
def list_of(*items: object) -> list[object]:
    """Return the values as a list, in the form that users see."""
    return list(map(as_python, items))


@REGISTRY.kernel("tfrt.tuple")
def tuple_of(*items: object) -> tuple[object, ...]:
    """Return the values as a tuple, in the form that users see."""
    return tuple(map(as_python, items))


@REGISTRY.kernel("tfrt.dict")
def dict_of(*pairs: object) -> dict[object, object]:
    """Return the values (key, value, key, value) as a dictionary, in the form that users see."""
    items = list(map(as_python, pairs))
    return dict(zip(items[::2], items[1::2], strict=True))


def map_values(frame: KernelFrame, values: AsyncValue, *others: Any) -> AsyncValue:
    """Return a list of the function's results for all items, in order.

    If calls fail, the list becomes the error of the first failed call.  If the function has a
    second result, it is a chain, and the list becomes available only after the chains of all calls.
    The last argument is the attribute `at_once`: the maximum number of calls in flight at once,
    where 0 means no limit.
    """
    *captures, at_once = others
    items = values.result(0)
    if not isinstance(items, Iterable):
        raise KernelError(f"tfrt.map takes a list, found {type(items).__name__}")
    if not isinstance(items, Sized):  # an iterator may be endless, so cancellation ends it
        items = takewhile(lambda _: not frame.is_cancelled, items)
    function, queue = frame.functions[0], frame.request.queue
    word = function.argument_types[0]
    try:
        given = [make_available(queue, item, word) for item in items]
    except PayloadError as wrong:
        raise KernelError(f"an item of tfrt.map: {wrong}") from None
    made = frame.allocate(0)
    begun = min(len(given), at_once) if at_once > 0 else len(given)
    calls = [function.execute([item, *captures]) for item in given[:begun]]

    def start(first: int, count: int) -> list[AsyncValue]:
        if not made.done():  # otherwise, the run is cancelled
            own = Context.at(queue.context())
            # These belong to the kernel that ended a call, and are restored below.
            kept = own.request, own.record
            calls.append(function.execute([given[first], *captures]))
            own.request, own.record = kept
            queue.hand_over()
        return [] if made.done() else calls[first]

    def end() -> None:
        # A worker runs the newest call first, so the oldest is often the only call that is still
        # running.
        when_all([value for call in reversed(calls) for value in call], finish)

    def finish() -> None:
        with contextlib.suppress(RuntimeError):  # a cancellation may have resolved it
            failed = [
                (index, problem.diagnostics[0])
                for index, call in enumerate(calls)
                for value in call
                if value.state is State.ERROR and (problem := value.exception(0)) is not None
            ]
            if failed:
                named = in_element(failed[0][1], failed[0][0], len(calls))
                made.set_error(replace(named, others=tuple(one for _, one in failed)))
            else:
                made.emplace([as_python(call[0].payload()) for call in calls])
        calls.clear()  # `when_all` refers to itself: do not leave the calls to the collector

    if begun == len(given):
        end()
        return made
    following = AtOnce(begun, len(given), start, end=end)
    for call in calls[:begun]:
        following.follow(call)
    return made


REGISTRY.add(
    PythonKernel(
        "tfrt.map",
        map_values,
        raw=True,
        frame=True,
        needs=1,
        keywords=(Keyword("at_once", int, 0),),
    )
)


def _lazy(name: str, *parameters: str) -> Callable[[Callable[..., object]], None]:
    """Register a kernel that takes the frame and awaits none of its arguments."""
    anything = (object,) * len(parameters)
    lazy = frozenset(range(len(parameters)))
    known = Parameters(parameters, anything, object, inspect.Parameter.empty, lazy)
    count = len(parameters)

    def register(function: Callable[..., object]) -> None:
        REGISTRY.add(
            PythonKernel(name, function, frame=True, needs=count, takes=count, parameters=known)
        )

    return register


@_lazy("tfrt.recover", "value", "replacement")
def recover(frame: KernelFrame, value: AsyncValue, replacement: AsyncValue) -> AsyncValue:
    """Return `value`, or `replacement` if `value` is an error.

    The kernel waits for `replacement` only if `value` is an error.
    """
    return _decided(frame, value, lambda made, _: made.follow(replacement))


@_lazy("tfrt.kept", "value")
def kept(frame: KernelFrame, value: AsyncValue) -> AsyncValue:
    """Return an available `value` as an object, or the exception of an error `value`."""
    return _decided(frame, value, AsyncValue.emplace)


def _decided(
    frame: KernelFrame, value: AsyncValue, otherwise: Callable[[AsyncValue, TfrtError], None]
) -> AsyncValue:
    """Return a result that becomes `value`, unless `value` is an error.

    If it is an error, `otherwise` resolves the result, and the error no longer makes the run fail.
    """
    made = frame.allocate()

    def decide() -> None:
        problem = value.exception(0)
        if problem is None:
            made.follow(value)
        elif not made.done():  # otherwise, the run is cancelled
            frame.request.recover(problem.diagnostics[0])
            otherwise(made, problem)

    value.and_then(decide)
    return made
