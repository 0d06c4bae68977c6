"""Python functions as kernels: `@kernel("my.name")`.

    @kernel("my.scale")
    def scale(value: int, *, factor: int) -> int:
        return value * factor

    %y = "my.scale"(%x) {factor = 3 : i32} : (i32) -> i32

Positional parameters are the kernel's arguments, and keyword-only parameters are its attributes, by
name.  An operation must have each attribute exactly once (attributes with defaults may be omitted)
and no unknown attributes.  If the first parameter is annotated as `KernelFrame`, it receives the
frame.  An `async def` function runs on an event loop, and its results are unavailable until it
returns.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, cast, overload

from tfrt_runtime.diagnostics import Location, refuse, require
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.kernels.registry import (
    BY_HAND,
    ITS_LOOP,
    KernelRegistry,
    Keyword,
    PythonFunction,
    PythonKernel,
    Shortcut,
    arguments_taken,
)
from tfrt_runtime.kernels.users.annotations import (
    has_annotation,
    holds_values,
    result_types,
    signature_of,
)
from tfrt_runtime.kernels.users.event_loop import on_event_loop
from tfrt_runtime.kernels.users.parameters import (
    is_frame,
    keyword_parameters,
    parameters_of,
    takes_frame,
    traced_signature,
    with_keywords,
)
from tfrt_runtime.kernels.users.policies import ONCE, attempted_here, with_policy
from tfrt_runtime.kernels.users.remote import on_cluster
from tfrt_runtime.kernels.users.retries import Delay, Policy, RetryOn

Takes = ParamSpec("Takes")
Gives = TypeVar("Gives")
Gives_co = TypeVar("Gives_co", covariant=True)

USER_KERNELS = KernelRegistry("user")
"""The kernels that `kernel` registers.

Programs can use them in addition to the runtime's own kernels.
"""


@dataclass(frozen=True, slots=True, eq=False)
class UserKernel:
    """A kernel as its author sees it.

    A function decorated with `@kernel` has this object as its `kernel` attribute.
    """

    name: str
    function: Callable[..., object]
    attributes: tuple[Keyword, ...]
    signature: inspect.Signature
    """The parameters and their types, without the frame.

    The types come from annotations or from a native signature.
    """

    @property
    def place(self) -> Location | None:
        """The first line of the function, including its decorators.

        It is None if the function is not written in Python.
        """
        code = getattr(self.function, "__code__", None)
        return None if code is None else Location(code.co_filename, code.co_firstlineno, 1)

    def check_is_registered(self) -> None:
        """Reject a call of this function if its kernel's name now belongs to another function.

        A function that was redefined, for instance by running a module or cell again, counts as the
        same function.

        Raises:
            TfrtError: located at the caller's line, if another function has the name.
        """
        now = USER_FUNCTIONS[self.name]
        if now.function is self.function:
            return
        is_elsewhere = now.qualified_name != self.qualified_name
        if is_elsewhere or now.place == self.place:
            refuse(
                f"'{self.name}' now names another function, {now.place or now.function}: give "
                f"each kernel its own name, as in @tfrt.kernel('my.name')"
            )

    @property
    def qualified_name(self) -> tuple[object, object]:
        """The module of the function, and its qualified name in the module."""
        return self.function.__module__, getattr(self.function, "__qualname__", None)

    @property
    def documentation(self) -> str:
        """The docstring of the function."""
        return inspect.getdoc(self.function) or ""


class Tracing(threading.local):
    """The state of tracing on this thread.

    `call` is the function that runs when a kernel is called, or None to run the kernel's own
    function.
    """

    call: Callable[[UserKernel, tuple[object, ...], dict[str, object]], object] | None = None


TRACING = Tracing()

USER_FUNCTIONS: dict[str, UserKernel] = {}
"""The functions decorated with `kernel`, keyed by the kernel's name."""


class KernelFunction(Protocol[Takes, Gives_co]):
    """The type of `kernel`'s result for type checkers.

    The result is a function with the same types, plus the attribute `kernel`.
    """

    kernel: UserKernel
    __name__: str

    def __call__(self, *values: Takes.args, **attributes: Takes.kwargs) -> Gives_co: ...


@overload
def kernel(name: Callable[Takes, Gives], /) -> KernelFunction[Takes, Gives]: ...


# The function's annotations are program types, but Python code calls it with numbers and arrays.
@overload
def kernel(
    name: str | None = None,
    *,
    native: str | Literal[True],
    retries: int = 0,
    limit: int | None = None,
) -> Callable[[Callable[..., object]], KernelFunction[..., Any]]: ...


@overload
def kernel(
    name: str | None = None,
    *,
    blocking: bool = False,
    raw: bool = False,
    native: Literal[False] = False,
    retries: int = 0,
    retry_on: RetryOn = Exception,
    delay: Delay = 0,
    growth: float = 1.0,
    jitter: float = 0.0,
    timeout: float | None = None,
    deadline: float | None = None,
    limit: int | None = None,
    remote: bool = False,
) -> Callable[[Callable[Takes, Gives]], KernelFunction[Takes, Gives]]: ...


def kernel(
    name: str | None | Callable[..., Any] = None,
    *,
    blocking: bool = False,
    raw: bool = False,
    native: str | bool = False,
    retries: int = 0,
    retry_on: RetryOn = Exception,
    delay: Delay = 0,
    growth: float = 1.0,
    jitter: float = 0.0,
    timeout: float | None = None,
    deadline: float | None = None,
    limit: int | None = None,
    remote: bool = False,
) -> Any:
    """Register the decorated function as kernel `name`, replacing any earlier one.

    Without a name, the kernel is named `py.FUNCTION`, or `MODULE.FUNCTION` in a module.  Python can
    still call the function as before; while a program is being traced, a call makes an operation
    instead.  The function's attribute `kernel` is the `UserKernel`.

    The function runs with the GIL on the worker that reaches it or, with `blocking`, on a thread of
    the blocking pool.  Programs are checked against its annotations when they are loaded.  Tensors
    are passed as read-only numpy arrays; a parameter annotated `AsyncValue` is not awaited, and
    with `raw`, all arguments are AsyncValues.  Results have the types that the program gives them.
    None becomes a chain if the program expects a chain, a tuple becomes several results, and a
    numpy array becomes a tensor.  If the function raises an exception, the exception is the cause
    of the results' error; raise `KernelError` to choose the message.

    Args:
        native: compile the function with Numba, so that it runs without the GIL. Pass True to take
            the types from the annotations (`tfrt.f64`, `tfrt.tensor[tfrt.f32, 2]`), or a signature
            such as `(f64, tensor<?x?xf32>) -> f64`.  The function may write only to arrays
            annotated `tfrt.out[...]`, and attributes must be numbers.
        retries: how many times the function is called again after it has raised an `Exception`
            other than a `KernelError`.  The notes of the last error list the exceptions of earlier
            attempts.
        retry_on: which errors are retried: exception types, or a function of the error.
        delay: how many seconds to wait before the next attempt of an async or blocking function; or
            a function that computes this number from the error (for example, from `Retry-After`).
        growth: the factor by which each delay is multiplied for the next one.
        jitter: the maximum number of seconds that are added to each delay, at random.
        timeout: how many seconds one attempt of an async or blocking function may take.
        deadline: how many seconds a call may take, including all of its attempts and delays.  A
            call that exceeds its `deadline` or `timeout` fails with a `TimeoutError`.
        limit: how many calls may run at the same time on one host, including calls that are waiting
            for their next attempt.
        remote: run the function as a task of the client on a host with a `DaskWorkQueue`.  On other
            hosts, the function runs on the thread that makes the last argument available.  In
            `%%tfrt` cells, a call without a cluster is an error.

    Raises:
        TfrtError: if `native` is not a valid signature for a native kernel, or if the options do
            not fit the function.
    """
    policy = Policy(retries, timeout, limit, retry_on, delay, growth, jitter, deadline)
    is_name = isinstance(name, str) and name.isprintable() and name != ""
    is_right = name is None or is_name or callable(name)
    require(is_right, "the name of a kernel", "a printable string that is not empty", name)
    for option, given in (("blocking", blocking), ("raw", raw), ("remote", remote)):
        require(isinstance(given, bool), option, "True or False", given)
    require(isinstance(native, bool | str), "native", "True, False, or a string of types", native)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        require(callable(function), "a kernel", "a function", function)
        if isinstance(known := getattr(function, "kernel", None), UserKernel):
            function = known.function
        full_name = name if isinstance(name, str) else own_name(function)
        made = user_kernel(full_name, function, blocking=blocking, raw=raw, policy=policy)
        if remote:
            if (
                made.raw
                or made.blocking
                or inspect.iscoroutinefunction(function)
                or takes_frame(signature_of(function))
                or native is not False
            ):
                refuse(
                    f"remote kernel '{full_name}' cannot be raw, blocking, async, native, or take the"  # noqa: E501
                    " frame: it runs on another machine"
                )
            made = remote_kernel(made, function, policy)
        if native is not False:
            made = native_kernel(made, function, native, policy)
        USER_KERNELS.replace(made)
        described = UserKernel(
            full_name,
            function,
            made.keywords or (),
            traced_signature(signature_of(function), native),
        )
        USER_FUNCTIONS[full_name] = described
        return callable_in_traces(described, function)

    return register if name is None or isinstance(name, str) else register(name)


def annotated_results(name: str, operands: Sequence[str]) -> tuple[str, ...] | None:
    """Return a kernel's result types for operands of these types.

    Return None if the kernel's result has no annotation.
    """
    returned = USER_FUNCTIONS[name].signature.return_annotation
    return result_types(returned, operands) if has_annotation(returned) else None


def own_name(function: Callable[..., object]) -> str:
    """Return a kernel's default name, which is the same in processes that `multiprocessing` starts.

    Raises:
        TfrtError: if the function has no name, as in the case of a lambda.
    """
    own = getattr(function, "__name__", "<lambda>")
    if own == "<lambda>":
        refuse(f"{function!r} has no name: give the kernel one, as in tfrt.kernel('my.name')(...)")
    module = function.__module__
    is_script = module in ("__main__", "__mp_main__")
    return f"{'py' if is_script else module}.{own}"


def callable_in_traces(described: UserKernel, function: PythonFunction) -> PythonFunction:
    """Return a function that calls `function` or, on a thread that is tracing, makes an operation.

    The returned function's code has the location of `function`, so that tracebacks and tools show
    that location.
    """

    def call(*values: object, **keywords: object) -> object: return _called(described, function, values, keywords)  # fmt: skip  # noqa: E501

    code = getattr(function, "__code__", None)
    if code is not None:
        # The whole call must be on one line, because its location is that line.
        call.__code__ = call.__code__.replace(
            co_filename=code.co_filename,
            co_firstlineno=code.co_firstlineno,
            co_name=code.co_name,
            co_qualname=code.co_qualname,
        )
    functools.update_wrapper(call, function)
    call.kernel = described  # type: ignore[attr-defined]
    if inspect.iscoroutinefunction(function) and sys.version_info >= (3, 12):
        inspect.markcoroutinefunction(call)
    return cast(PythonFunction, call)


def _called(
    described: UserKernel,
    function: Callable[..., object],
    values: tuple[object, ...],
    keywords: dict[str, object],
) -> object:
    traced = TRACING.call
    return function(*values, **keywords) if traced is None else traced(described, values, keywords)


def user_kernel(
    name: str,
    function: Callable[..., object],
    *,
    blocking: bool = False,
    raw: bool = False,
    policy: Policy = ONCE,
) -> PythonKernel:
    """Return a kernel that calls `function` with the options of `kernel`.

    Raises:
        TfrtError: if the policy does not fit the function, if a parameter other than the first is
            the frame, or if a parameter is a collection of values.
    """
    HOOKS.has_user_kernels = True
    HOOKS.calling_module = __name__
    signature = signature_of(function)
    if wrong := [one.name for one in list(signature.parameters.values())[1:] if is_frame(one)]:
        refuse(f"kernel '{name}': the frame must be the first parameter, not '{wrong[0]}'")
    if held := [one.name for one in signature.parameters.values() if holds_values(one.annotation)]:
        refuse(
            f"kernel '{name}': '{held[0]}' is one argument, whose items are awaited: write"
            " *steps: tfrt.AsyncValue for any number of values that are not"
        )
    keywords = keyword_parameters(signature)
    is_coroutine = inspect.iscoroutinefunction(function)
    has_frame = takes_frame(signature)
    call = with_keywords(function, keywords)
    needs_frame = has_frame or is_coroutine
    if is_coroutine:
        coroutine = cast("Callable[..., Coroutine[object, object, object]]", call)
        call = on_event_loop(name, coroutine, has_frame, policy)
    elif policy != ONCE:
        call = with_policy(name, call, policy, blocking=blocking, has_frame=has_frame)
        needs_frame = True
    needs, takes = arguments_taken(function, has_frame)
    return PythonKernel(
        name,
        call,
        blocking=blocking,
        raw=raw,
        frame=needs_frame,
        needs=needs,
        takes=takes,
        keywords=keywords,
        parameters=parameters_of(signature, has_frame, raw=raw),
        arrays=True,
        waits=ITS_LOOP if is_coroutine else BY_HAND,
        watched=None if blocking or is_coroutine else function,
    )


def remote_kernel(
    made: PythonKernel, function: Callable[..., object], policy: Policy
) -> PythonKernel:
    """Return a copy of `made` that runs on a cluster.

    Raises:
        TfrtError: if the kernel has a time limit, a call limit, or parameters that are not awaited.
    """
    assert made.parameters is not None and made.keywords is not None
    limits = (policy.timeout, policy.deadline, policy.limit)
    if any(one is not None for one in limits) or made.parameters.lazy:
        refuse(
            f"remote kernel '{made.name}' cannot have a timeout, deadline, limit, or AsyncValue:"
            " its retries run on its worker, and nothing waits for them here"
        )
    names = [keyword.name for keyword in made.keywords]
    if policy.retries:
        function = attempted_here(made.name, function, policy)
    call = on_cluster(function, names)
    return replace(made, function=call, raw=True, frame=True, remote=True, watched=None)


def native_kernel(
    made: PythonKernel,
    function: Callable[..., object],
    types: str | bool,
    policy: Policy = ONCE,
) -> PythonKernel:
    """Return a copy of `made` with a native version, which Numba compiles when a program needs it.

    Args:
        types: the kernel's signature, or True to use its annotations.

    Raises:
        TfrtError: if the signature is invalid or does not fit the function, or if the kernel's
            options need Python.
    """
    if made.raw or made.blocking or made.frame or policy != ONCE:
        refuse(
            f"native kernel '{made.name}' cannot be raw, blocking, async, take the frame, or have"
            " retries, timeout or limit"
        )
    # These modules import numpy, which takes longer than a small program; few programs have such
    # kernels.
    from tfrt_runtime.kernels.users.numba_kernels import NumbaFunction
    from tfrt_runtime.kernels.users.signatures import Tensor, annotated_signature, parse_signature

    if isinstance(types, str):
        signature = parse_signature(types)
    else:
        signature = annotated_signature(made.name, signature_of(function))
    count = len(signature.arguments)
    if made.takes is not None and made.takes != count:
        refuse(f"native kernel '{made.name}' takes {made.taken}, its types are {count}")
    compiled = NumbaFunction(made.name, function, signature)
    assert made.parameters is not None
    # A kernel with a loop may take long for any numbers. For a kernel that takes tensors, each call
    # decides at run time whether it is heavy.
    has_loop = any("JUMP_BACKWARD" in one.opname for one in dis.get_instructions(function))
    takes_tensors = any(isinstance(argument, Tensor) for argument in signature.arguments)
    made = replace(
        made,
        results=tuple(result.word for result in signature.results) or ("chain",),
        heavy=takes_tensors or has_loop,
        takes=count,
        parameters=replace(
            made.parameters, annotations=signature.annotations, returned=inspect.Parameter.empty
        ),
        arrays=False,
        watched=None,
    )
    if signature.returns_tensors:
        return replace(made, function=compiled.call, prepare=compiled.prepare)
    return replace(
        made,
        function=compiled.in_python(made.function),
        shortcut=Shortcut("user_kernels.run", compiled.data, measures=takes_tensors),
    )
