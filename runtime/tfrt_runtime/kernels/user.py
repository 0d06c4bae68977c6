"""Python functions as kernels: `@kernel("my.name")`.

    @kernel("my.scale")
    def scale(value: int, *, factor: int) -> int:
        return value * factor

    %y = "my.scale"(%x) {factor = 3 : i32} : (i32) -> i32

Positional parameters are the kernel's arguments; keyword-only parameters are its attributes, by name.
A first parameter that is annotated `KernelFrame` is the frame.  An `async def` function runs on an
event loop of its own, and its results are unavailable until it returns.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from tfrt_runtime.diagnostics import TfrtError, error, note
from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import (
    KernelError,
    KernelRegistry,
    PythonKernel,
    Shortcut,
    arguments_taken,
)

if TYPE_CHECKING:
    import asyncio

PythonFunction = TypeVar("PythonFunction", bound=Callable[..., object])

USER_KERNELS = KernelRegistry("user")
"""What `kernel` registers; programs find these beside the runtime's own."""


def kernel(
    name: str, *, blocking: bool = False, raw: bool = False, native: str = ""
) -> Callable[[PythonFunction], PythonFunction]:
    """Register the decorated function as kernel `name`, in the place of an earlier one.

    The function runs with the GIL on the worker that reaches it, or with `blocking` on a thread of
    the blocking pool.  With `raw` its arguments are AsyncValues.  With `native`, which says its types
    such as `(f64, tensor<?x?xf32>) -> f64`, it is compiled by Numba and runs without the GIL: tensors
    are numpy arrays that it may write, attributes are numbers.  Results get the types that the
    program gives them: numbers are checked against them, None is a chain, a tuple is several
    results.  What it raises becomes an error of the results; raise `KernelError` for a message of
    your own.

    Raises:
        TfrtError: if `native` is no signature of a native kernel.
    """

    def register(function: PythonFunction) -> PythonFunction:
        made = user_kernel(name, function, blocking=blocking, raw=raw)
        USER_KERNELS.replace(native_kernel(made, function, native) if native else made)
        return function

    return register


def user_kernel(
    name: str, function: Callable[..., object], *, blocking: bool = False, raw: bool = False
) -> PythonKernel:
    """A kernel that calls `function` as `kernel` says."""
    attributes = keyword_parameters(function)
    is_coroutine = inspect.iscoroutinefunction(function)
    has_frame = takes_frame(function)
    call = with_keywords(function, attributes)
    if is_coroutine:
        call = on_event_loop(
            cast("Callable[..., Coroutine[object, object, object]]", call), has_frame
        )
    taken = arguments_taken(function, len(attributes) + has_frame)
    kernel = PythonKernel(name, call, ("any",) * len(attributes), takes=taken)
    return replace(kernel, frame=has_frame or is_coroutine, blocking=blocking, raw=raw)


def native_kernel(
    made: PythonKernel, function: Callable[..., object], signature_text: str
) -> PythonKernel:
    """`made`, with a native half that Numba compiles when a program needs it.

    Raises:
        TfrtError: if the signature is wrong, does not fit the function, or the kernel is of a kind
            that needs Python.
    """
    if made.raw or made.blocking or made.frame:
        raise TfrtError(
            error(f"native kernel '{made.name}' cannot be raw, blocking, async, or take the frame")
        )
    # These import numpy, which takes longer than a small program; few programs have such kernels.
    from tfrt_runtime.kernels.numba_kernels import NumbaFunction, call_on_arrays
    from tfrt_runtime.kernels.signatures import Tensor, parse_signature

    signature = parse_signature(signature_text)
    count = len(signature.arguments)
    if made.takes is not None and made.takes != count:
        raise TfrtError(
            error(
                f"native kernel '{made.name}' takes {made.takes} arguments, its types are {count}"
            )
        )
    call = with_keywords(function, keyword_parameters(function))
    compiled = NumbaFunction(made.name, function, signature, keyword_parameters(function))
    return replace(
        made,
        function=call_on_arrays(call),
        results=tuple(result.word for result in signature.results) or ("chain",),
        heavy=any(isinstance(argument, Tensor) for argument in signature.arguments),
        takes=count,
        shortcut=Shortcut("user_kernels.run", compiled.data),
    )


def keyword_parameters(function: Callable[..., object]) -> tuple[str, ...]:
    """Names of the keyword-only parameters, in the order in which BEF has attributes."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(sorted(p.name for p in parameters if p.kind is p.KEYWORD_ONLY))


def takes_frame(function: Callable[..., object]) -> bool:
    """Whether the first parameter is annotated as the frame."""
    parameters = list(inspect.signature(function).parameters.values())
    return bool(parameters) and parameters[0].annotation in (KernelFrame, "KernelFrame")


def with_keywords(function: Callable[..., object], names: tuple[str, ...]) -> Callable[..., object]:
    """`function`, called with its keywords last and without their names."""
    if not names:
        return function
    count = len(names)

    @functools.wraps(function)
    def call(*values: object) -> object:
        return function(*values[:-count], **dict(zip(names, values[-count:], strict=True)))

    return call


def on_event_loop(
    function: Callable[..., Coroutine[object, object, object]], has_frame: bool
) -> Callable[..., object]:
    """A kernel function that starts a coroutine and returns values that it resolves."""

    import asyncio  # takes 20 ms, and few programs have such kernels

    def start(frame: KernelFrame, *values: object) -> tuple[AsyncValue, ...]:
        results = tuple(frame.allocate(i) for i in range(len(frame.result_types)))
        frame.request.enter()
        task = function(*((frame,) if has_frame else ()), *values)
        asyncio.run_coroutine_threadsafe(finish(frame, task, results), event_loop())
        return results

    return start


async def finish(
    frame: KernelFrame,
    task: Coroutine[object, object, object],
    results: tuple[AsyncValue, ...],
) -> None:
    """Await a kernel's coroutine and resolve its results; the run is not over before."""
    try:
        returned = await task
        values = returned if isinstance(returned, tuple) and len(results) != 1 else (returned,)
        if len(values) != len(results):
            raise KernelError(
                f"the kernel returned {len(values)} values for {len(results)} results"
            )
        for result, value in zip(results, values, strict=True):
            result.emplace(CHAIN if value is None else value)
    except Exception as problem:  # noqa: BLE001 - it becomes the results' error
        fail(frame, problem, results)
    finally:
        frame.request.leave()


def fail(frame: KernelFrame, problem: Exception, results: tuple[AsyncValue, ...]) -> None:
    """Report what a coroutine raised, and make it every result that is not there yet."""
    if isinstance(problem, KernelError):
        diagnostic = error(problem.message, frame.location)
    else:
        notes = [note(f"raised in kernel '{frame.name}'")]
        diagnostic = error(f"{type(problem).__name__}: {problem}", frame.location, notes)
    frame.request.report(diagnostic)
    for result in results:
        if not result.done():
            result.set_error(diagnostic)


@functools.cache
def event_loop() -> asyncio.AbstractEventLoop:
    """The loop of `async def` kernels, which runs on a thread of its own for ever."""
    import asyncio

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="event loop", daemon=True).start()
    return loop
