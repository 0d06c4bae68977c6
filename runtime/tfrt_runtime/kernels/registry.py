"""Kernels by name, in registries.

A kernel is a function with a name.  `KernelRegistry.kernel` registers a Python function;
`KernelRegistry.add` registers any kernel.  Registries are ordinary objects: a program is loaded
against the registry of kernels that it may use.

Type words, for attributes and results: the scalars of MLIR (`i1` `i8` ...  `ui64` `f16` `bf16`
`f32` `f64` `complex64` `complex128`), `chain`, `object` (any Python value), and for attributes also
`string`, `type`, `shape`, `dense`, `aggregate`, `function`, `array.T` for a scalar T, and `typed`,
which passes the name of the attribute's type and the attribute itself.
"""

from __future__ import annotations

import inspect
import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tfrt_runtime.diagnostics import TfrtError, counted, error
from tfrt_runtime.host.payload import NoObject
from tfrt_runtime.host.request import Request

PythonFunction = TypeVar("PythonFunction", bound=Callable[..., object])


class KernelError(Exception, NoObject):
    """The exception that a kernel raises, or returns instead of a result, to turn the result into
    an error.

    `code` is the error code of the diagnostic; users see the message.
    """

    def __init__(self, message: str, code: str = "INTERNAL") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, slots=True)
class Shortcut:
    """The native version of a Python kernel: the compiled function `symbol` is called instead.

    It either does the work of the Python function, or changes nothing and lets the Python function
    run.  The words of the kernel's data are the addresses of the native `functions`, followed by
    `data` or by the words that `data` computes from the attributes; on invalid attributes, the
    Python function reports the error.  With `measures`, the native function itself decides, for
    each call to a kernel that is marked heavy, whether that call is heavy (`KERNEL_MEASURED`).
    """

    symbol: str
    data: tuple[int, ...] | Callable[..., tuple[int, ...] | None] = ()
    functions: tuple[str, ...] = ()
    measures: bool = True

    def words(self, attributes: tuple[object, ...]) -> tuple[int, ...] | None:
        """Return the data words for a call with these attributes, or None if it must
        run in Python.
        """
        if not callable(self.data):
            return self.data
        try:
            words = self.data(*attributes)
            # A file may contain anything, including numbers of another kind and numbers that are
            # too large.
            return None if words is None else tuple(array("q", words))
        except (OverflowError, TypeError, ValueError):
            return None


REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Keyword:
    """An attribute that a Python kernel takes by name.

    `kind` is `bool`, `int` (any integer), `float` (any float), `str`, the word of a scalar type, or
    None for any attribute.  `default` is the value to use if the operation lacks the attribute;
    if `default` is `REQUIRED`, the operation must have the attribute.
    """

    name: str
    kind: type | str | None = None
    default: object = REQUIRED


@dataclass(frozen=True, slots=True)
class Parameters:
    """The types in a Python kernel's annotations; see `annotations`.

    Programs are checked against them.

    `rest` is the type of the arguments after the named ones, if the function takes any number of
    arguments.
    """

    names: tuple[str, ...]
    annotations: tuple[object, ...]
    rest: object
    returned: object
    lazy: frozenset[int] = frozenset()
    """The arguments that are not awaited; the kernel receives them as AsyncValues.

    The index after the last name represents all later arguments.
    """


BY_HAND = "a thread, or a callback, that sets it"
ITS_LOOP = "its event loop"


@dataclass(frozen=True, slots=True)
class PythonKernel:
    """A kernel that runs a Python function, with the GIL, on the thread that reaches it.

    `attributes` are type words in BEF's order (alphabetical by name); a kernel with `keywords`
    takes those instead, by name.  `results` are type words, or None for one result whose type is
    determined by the Python value.  With `heavy`, the kernel is worth waking another worker; with
    `blocking`, it runs in the blocking pool; with `raw`, its arguments are AsyncValues, some of
    which may be unavailable or errors; with `frame`, its first argument is the KernelFrame.
    """

    name: str
    function: Callable[..., object]
    attributes: tuple[str, ...] = ()
    results: tuple[str, ...] | None = None
    heavy: bool = False
    blocking: bool = False
    raw: bool = False
    frame: bool = False
    sync: bool = False
    needs: int = 0
    """The number of arguments that the function requires."""
    takes: int | None = None
    """The maximum number of arguments, without a trailing chain, or None for any number.
    """
    shortcut: Shortcut | None = None
    keywords: tuple[Keyword, ...] | None = None
    """The attributes in the order in which the function takes them, after its arguments."""
    parameters: Parameters | None = None
    arrays: bool = False
    """Whether tensors are passed to the function as numpy arrays, which it must not write."""
    watched: Callable[..., object] | None = None
    """The user's function, if its calls occupy a worker.

    A warning names the function if a call takes too long.
    """
    remote: bool = False
    """Whether the kernel runs on the cluster if the host has one.

    Values that only such kernels take stay on the cluster.
    """
    waits: str = BY_HAND
    """A phrase for messages: the event that the results await after the kernel has returned."""
    prepare: Callable[..., object] | None = None
    """Called with the attributes when a program that uses the kernel is loaded.

    It may raise `KernelError`.
    """

    @property
    def has_lazy(self) -> bool:
        """Whether some arguments are not awaited."""
        return self.parameters is not None and bool(self.parameters.lazy)

    def is_lazy(self, place: int) -> bool:
        """Tell whether argument `place` is not awaited, so that the kernel receives
        an AsyncValue.
        """
        known = self.parameters
        return known is not None and min(place, len(known.names)) in known.lazy

    @property
    def taken(self) -> str:
        """The number of arguments that the function takes, as a phrase; a final chain is not
        counted.
        """
        if self.takes is None:
            return f"at least {counted(self.needs, 'argument')}"
        if self.needs >= self.takes:
            return counted(self.takes, "argument")
        between = "or" if self.takes == self.needs + 1 else "to"
        return f"{self.needs} {between} {counted(self.takes, 'argument')}"


@dataclass(frozen=True, slots=True)
class NativeKernel:
    """A kernel of the native core: `symbol` names the compiled function.

    `arguments` is the number of arguments, or with `more` the minimum number; `types` are the type
    words of arguments that are numbers (the last word applies to all further arguments); `gives`
    are the type words of the results.  `results` is the number of results, or None for one result
    per argument after the first `arguments` arguments.  The loader checks these counts and types,
    because native kernels do not.  The words of the kernel's data are the addresses of the native
    functions `data`, followed by the `attributes`, in BEF's order.  `flags` are `layouts.KERNEL_*`.
    `("*i32",)` stands for any number of i32 attributes; the first data word is their count.
    """

    name: str
    symbol: str
    arguments: int = 0
    results: int | None = 1
    attributes: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    flags: int = 0
    sync: bool = False
    """Whether the kernel runs in sync functions, and only there."""
    more: bool = False
    types: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConstantKernel:
    """A kernel whose only result depends only on its attributes, so the loader computes it.

    The result has the type `type`; a complex result has two attributes, the imaginary part before
    the real part.
    """

    name: str
    type: str
    attributes: tuple[str, ...]
    sync: bool = False


@dataclass(frozen=True, slots=True)
class ControlKernel:
    """A native kernel that starts functions of the program.

    The first `own` arguments belong to the kernel; the others are passed to the function, after
    `added` arguments that the kernel makes.  The function has `extra` more results than the kernel.
    `functions` is the number of functions that the kernel takes, or None for any number.
    `fixed_results` is set if the results do not come from the function.  `types` are the type words
    of the kernel's own arguments.
    """

    name: str
    symbol: str
    own: int = 0
    added: int = 0
    extra: int = 0
    functions: int | None = 1
    fixed_results: int | None = None
    body_results: int | None = None
    """The number of the function's results if nothing else determines it.

    None means at most one.
    """
    data: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    """The attributes' type words.

    In the kernel's data, the attributes follow `data`; an attribute that is not a number is stored
    as 0.
    """
    sync: bool = False
    """Whether the kernel calls only sync functions."""
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A function that another compiler has compiled; an adapter calls it.

    See `compiled_kernels`.

    `arguments` and `results` are type words, with `tensor` for tensors.  `code` keeps the code at
    the adapter's address alive.
    """

    name: str
    adapter: int
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    awaited: tuple[int, ...] = ()
    """The arguments that are not awaited before the call, because the code awaits them itself.

    The adapter takes these arguments last.
    """
    heavy: bool = False
    lasting: bool = False
    """Whether the function may take a long time: it has calls, loops, or back edges.

    A function that is not worth waking a worker for (not `heavy`) may still be slow.
    """
    code: object = None
    interpreted: bool = False
    """Whether the adapter calls an interpreter instead of machine code."""
    prepare: Callable[[Request], bool] = lambda _: False
    """Called before a run that may call the function."""
    sync: bool = False

    @property
    def order(self) -> tuple[int, ...]:
        """The arguments in the adapter's order: unawaited arguments are last."""
        strict = [i for i in range(len(self.arguments)) if i not in self.awaited]
        return (*strict, *self.awaited)


Kernel = PythonKernel | NativeKernel | ConstantKernel | ControlKernel | CompiledKernel


class KernelRegistry(dict[str, Kernel]):
    """Kernels by name; `origin` names their owner in messages about name clashes."""

    def __init__(self, origin: str = "user") -> None:
        super().__init__()
        self.origin = origin
        self.version = 0
        """Changes whenever a kernel is added."""

    def kernel(
        self,
        name: str,
        *,
        attributes: tuple[str, ...] = (),
        results: tuple[str, ...] | None = None,
        heavy: bool = False,
        blocking: bool = False,
        raw: bool = False,
        frame: bool = False,
        sync: bool = False,
        shortcut: Shortcut | None = None,
    ) -> Callable[[PythonFunction], PythonFunction]:
        """Register the decorated function as kernel `name`; the function itself is not changed.

        Raises:
            TfrtError: if the name is taken.
        """

        def register(function: PythonFunction) -> PythonFunction:
            needs, takes = arguments_taken(function, len(attributes) + frame)
            self.add(
                PythonKernel(
                    name,
                    function,
                    attributes,
                    results,
                    heavy,
                    blocking,
                    raw,
                    frame,
                    sync,
                    needs,
                    takes,
                    shortcut,
                )
            )
            return function

        return register

    def add(self, kernel: Kernel) -> None:
        """Register a kernel.

        Raises:
            TfrtError: if the name is taken.
        """
        if kernel.name in self:
            raise TfrtError(
                error(f"kernel '{kernel.name}' is already in the {self.origin} kernels")
            )
        self.replace(kernel)

    def replace(self, kernel: Kernel) -> None:
        """Register a kernel, replacing any earlier kernel of the same name."""
        self[kernel.name] = kernel
        self.version += 1

    def include(self, other: KernelRegistry) -> None:
        """Add all kernels of `other`.

        Raises:
            TfrtError: if a name is taken; in that case, nothing is added.
        """
        if clash := sorted(self.keys() & other.keys()):
            raise TfrtError(
                error(
                    f"kernel '{clash[0]}' is already defined in the {self.origin} kernels;"
                    f" no kernel of the {other.origin} kernels was added"
                )
            )
        self.update(other)


def unevaluated_signature(function: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a function, even if its annotations are strings or forward
    references.

    Raises:
        ValueError: if it is a C function that does not provide a signature.
    """
    if sys.version_info >= (3, 14):
        import annotationlib

        return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
    return inspect.signature(function)


def arguments_taken(function: Callable[..., object], others: int) -> tuple[int, int | None]:
    """Return how many kernel arguments a function requires and how many it takes (None means any
    number).

    `others` is the number of its positional parameters that have another purpose.
    """
    try:
        parameters = unevaluated_signature(function).parameters.values()
    except ValueError:  # a C function without a signature
        return 0, None
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    needed = sum(parameter.default is parameter.empty for parameter in positional)
    is_variadic = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    return max(0, needed - others), None if is_variadic else len(positional) - others
