"""Python functions as kernels: `@kernel("my.name")`.

    @kernel("my.scale")
    def scale(value: int, *, factor: int) -> int:
        return value * factor

    %y = "my.scale"(%x) {factor = 3 : i32} : (i32) -> i32

Positional parameters are the kernel's arguments; keyword-only parameters are its attributes, by name:
an operation gives each that has no default, once, and no others.
A first parameter that is annotated `KernelFrame` is the frame.  An `async def` function runs on an
event loop of its own, and its results are unavailable until it returns.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import TypeVar, cast, overload

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.kernels.event_loop import on_event_loop
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import (
    KernelRegistry,
    Keyword,
    PythonKernel,
    Shortcut,
    arguments_taken,
)

PythonFunction = TypeVar("PythonFunction", bound=Callable[..., object])

USER_KERNELS = KernelRegistry("user")
"""What `kernel` registers; programs find these beside the runtime's own."""


@dataclass(frozen=True, slots=True)
class UserKernel:
    """A kernel as its author sees it: `function.kernel` of what `kernel` decorated."""

    name: str
    function: Callable[..., object]
    attributes: tuple[Keyword, ...]
    has_frame: bool

    @property
    def signature(self) -> inspect.Signature:
        """The parameters and what they are annotated with, the frame not among them."""
        signature = inspect.signature(self.function)
        parameters = list(signature.parameters.values())[self.has_frame :]
        return signature.replace(parameters=parameters)

    @property
    def documentation(self) -> str:
        """The docstring of the function."""
        return inspect.getdoc(self.function) or ""


class Tracing(threading.local):
    """What calling a kernel does on this thread, if it is not to run its function."""

    call: Callable[[UserKernel, tuple[object, ...], dict[str, object]], object] | None = None


TRACING = Tracing()

USER_FUNCTIONS: dict[str, UserKernel] = {}
"""What `kernel` decorated, by the kernel's name."""


@overload
def kernel(name: PythonFunction, /) -> PythonFunction: ...


@overload
def kernel(
    name: str | None = None, *, blocking: bool = False, raw: bool = False, native: str = ""
) -> Callable[[PythonFunction], PythonFunction]: ...


def kernel(
    name: str | None | PythonFunction = None,
    *,
    blocking: bool = False,
    raw: bool = False,
    native: str = "",
) -> PythonFunction | Callable[[PythonFunction], PythonFunction]:
    """Register the decorated function as kernel `name`, in the place of an earlier one.

    Without a name the kernel is `py.FUNCTION`, or in a module `MODULE.FUNCTION`.  The function stays
    one that Python calls as before; only while a program is traced, calling it makes an operation.
    Its attribute `kernel` is the `UserKernel`.

    The function runs with the GIL on the worker that reaches it, or with `blocking` on a thread of
    the blocking pool.  With `raw` its arguments are AsyncValues.  With `native`, which says its types
    such as `(f64, tensor<?x?xf32>) -> f64`, it is compiled by Numba and runs without the GIL: tensors
    are numpy arrays that it may write, attributes are numbers.  Results get the types that the
    program gives them: they are checked, None is a chain where the program has one, a tuple is several
    results, a numpy array is a tensor.  What it raises is the cause of the results' error; raise
    `KernelError` for a message of your own.

    Raises:
        TfrtError: if `native` is no signature of a native kernel.
    """

    def register(function: PythonFunction) -> PythonFunction:
        full_name = name if isinstance(name, str) else own_name(function)
        made = user_kernel(full_name, function, blocking=blocking, raw=raw)
        USER_KERNELS.replace(native_kernel(made, function, native) if native else made)
        described = UserKernel(full_name, function, made.keywords or (), takes_frame(function))
        USER_FUNCTIONS[full_name] = described
        return callable_in_traces(described, function)

    return register if name is None or isinstance(name, str) else register(name)


def own_name(function: Callable[..., object]) -> str:
    """The name of a kernel that is given none."""
    module = function.__module__
    return f"{'py' if module == '__main__' else module}.{function.__name__}"


def callable_in_traces(described: UserKernel, function: PythonFunction) -> PythonFunction:
    """A function that does what `function` does, or on a thread that traces makes an operation."""

    @functools.wraps(function)
    def call(*values: object, **keywords: object) -> object:
        traced = TRACING.call
        if traced is None:
            return function(*values, **keywords)
        return traced(described, values, keywords)

    call.kernel = described  # type: ignore[attr-defined]
    if inspect.iscoroutinefunction(function) and sys.version_info >= (3, 12):
        inspect.markcoroutinefunction(call)
    return cast(PythonFunction, call)


def user_kernel(
    name: str, function: Callable[..., object], *, blocking: bool = False, raw: bool = False
) -> PythonKernel:
    """A kernel that calls `function` as `kernel` says."""
    keywords = keyword_parameters(function)
    is_coroutine = inspect.iscoroutinefunction(function)
    has_frame = takes_frame(function)
    call = with_keywords(function, keywords)
    if is_coroutine:
        call = on_event_loop(
            cast("Callable[..., Coroutine[object, object, object]]", call), has_frame
        )
    needs, takes = arguments_taken(function, has_frame)
    return PythonKernel(
        name,
        call,
        blocking=blocking,
        raw=raw,
        frame=has_frame or is_coroutine,
        needs=needs,
        takes=takes,
        keywords=keywords,
    )


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
    from tfrt_runtime.kernels.numba_kernels import NumbaFunction
    from tfrt_runtime.kernels.signatures import Tensor, parse_signature

    signature = parse_signature(signature_text)
    count = len(signature.arguments)
    if made.takes is not None and made.takes != count:
        raise TfrtError(
            error(
                f"native kernel '{made.name}' takes {made.takes} arguments, its types are {count}"
            )
        )
    compiled = NumbaFunction(made.name, function, signature)
    return replace(
        made,
        function=compiled.in_python(made.function),
        results=tuple(result.word for result in signature.results) or ("chain",),
        heavy=any(isinstance(argument, Tensor) for argument in signature.arguments),
        takes=count,
        shortcut=Shortcut("user_kernels.run", compiled.data),
    )


ATTRIBUTE_KINDS: dict[object, type] = {
    annotation: kind for kind in (bool, int, float, str) for annotation in (kind, kind.__name__)
}
"""Annotations of attributes that are checked, also as the text that a future import makes of them."""


def keyword_parameters(function: Callable[..., object]) -> tuple[Keyword, ...]:
    """The keyword-only parameters, in their order: the attributes of the kernel."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(
        Keyword(p.name, ATTRIBUTE_KINDS.get(p.annotation), p.default)
        for p in parameters
        if p.kind is p.KEYWORD_ONLY
    )


def takes_frame(function: Callable[..., object]) -> bool:
    """Whether the first parameter is annotated as the frame."""
    parameters = list(inspect.signature(function).parameters.values())
    return bool(parameters) and parameters[0].annotation in (KernelFrame, "KernelFrame")


def with_keywords(
    function: Callable[..., object], keywords: tuple[Keyword, ...]
) -> Callable[..., object]:
    """`function`, called with its keywords last and without their names."""
    if not keywords:
        return function
    names = [keyword.name for keyword in keywords]
    count = len(names)

    @functools.wraps(function)
    def call(*values: object) -> object:
        return function(*values[:-count], **dict(zip(names, values[-count:], strict=True)))

    return call
