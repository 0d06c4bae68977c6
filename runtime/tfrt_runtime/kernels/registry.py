"""Kernels by name, in registries.

A kernel is a function with a name.  `KernelRegistry.kernel` registers a Python function, and
`KernelRegistry.add` registers any kernel.  A program is loaded with a registry of the kernels that
it may use.

Attributes and results have type words: MLIR's scalars (`i1` `i8` ...  `ui64` `f16` `bf16` `f32`
`f64` `complex64` `complex128`), `chain`, and `object` (any Python value).  Attributes may also have
the words `string`, `type`, `shape`, `dense`, `aggregate`, `function`, `array.T` for a scalar T, and
`typed`.  With `typed`, the kernel also gets the name of the attribute's type.
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
    """An exception that makes a kernel's result an error.

    A kernel raises it, or returns it instead of a result.  Users see `message`; `code` is the error
    code of the diagnostic.
    """

    def __init__(self, message: str, code: str = "INTERNAL") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A native version of a Python kernel, which is called instead of the Python function.

    `symbol` is the name of a native function.  The native function either does the kernel's work,
    or changes nothing and lets the Python function run.  Its data words are the addresses of the
    native `functions`, followed by `data` or by the words that `data` computes from the attributes.
    If the attributes are invalid, `data` returns None, and the Python function reports the error.
    If `measures` is true and the kernel is registered as heavy, the native function decides for
    each call whether that call is heavy (`KERNEL_MEASURED`).
    """

    symbol: str
    data: tuple[int, ...] | Callable[..., tuple[int, ...] | None] = ()
    functions: tuple[str, ...] = ()
    measures: bool = True

    def words(self, attributes: tuple[object, ...]) -> tuple[int, ...] | None:
        """Return the data words for a call with these attributes.

        Return None if the call must run in Python.
        """
        if not callable(self.data):
            return self.data
        try:
            words = self.data(*attributes)
            # A file may contain numbers of any kind and size.
            return None if words is None else tuple(array("q", words))
        except (OverflowError, TypeError, ValueError):
            return None


REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Keyword:
    """An attribute that a Python kernel takes by name.

    `kind` is `bool`, `int` (any integer), `float` (any float), `str`, a scalar type's word, or None
    for any attribute.  `default` is used if the operation does not have the attribute.  If
    `default` is `REQUIRED`, the operation must have the attribute.
    """

    name: str
    kind: type | str | None = None
    default: object = REQUIRED


@dataclass(frozen=True, slots=True)
class Parameters:
    """The types in a Python kernel's annotations, with which programs are compared.

    If the function takes any number of arguments, `rest` is the type of those after the named ones.
    """

    names: tuple[str, ...]
    annotations: tuple[object, ...]
    rest: object
    returned: object
    lazy: frozenset[int] = frozenset()
    """The indexes of the arguments that are not awaited: the kernel gets them as AsyncValues.

    The index after the last name includes all later arguments.
    """


BY_HAND = "a thread, or a callback, that sets it"
ITS_LOOP = "its event loop"


@dataclass(frozen=True, slots=True)
class PythonKernel:
    """A kernel that runs a Python function, with the GIL, on the thread that reaches it.

    - `attributes` are type words in BEF's order (alphabetical by name).  A kernel with `keywords`
      takes its attributes by name instead.
    - `results` are type words, or None for one result whose type depends on the Python value.
    - `heavy`: the kernel is worth waking another worker.
    - `blocking`: the kernel runs in the blocking pool.
    - `raw`: the arguments are AsyncValues, which may be unavailable or errors.
    - `frame`: the first argument is the KernelFrame.
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
    """How many arguments the function requires."""
    takes: int | None = None
    """How many arguments the function takes, or None for any number.

    A chain at the end is not counted.
    """
    shortcut: Shortcut | None = None
    keywords: tuple[Keyword, ...] | None = None
    """The attributes in the order in which the function takes them, after its arguments."""
    parameters: Parameters | None = None
    arrays: bool = False
    """Whether the function gets tensors as numpy arrays, which it must not write."""
    watched: Callable[..., object] | None = None
    """The user's function, if its calls occupy a worker; otherwise, None.

    If a call takes too long, a warning names the function.
    """
    remote: bool = False
    """Whether the kernel runs on the cluster, if the host has one.

    Values that are passed only to remote kernels stay on the cluster.
    """
    waits: str = BY_HAND
    """A phrase for the event that the results wait for after the kernel has returned."""
    prepare: Callable[..., object] | None = None
    """A function that is called with the attributes when a program that uses the kernel is loaded.

    It may raise `KernelError`.
    """

    @property
    def has_lazy(self) -> bool:
        """Whether the kernel has arguments that are not awaited."""
        return self.parameters is not None and bool(self.parameters.lazy)

    def is_lazy(self, place: int) -> bool:
        """Return whether the kernel gets argument `place` as an AsyncValue that is not awaited."""
        known = self.parameters
        return known is not None and min(place, len(known.names)) in known.lazy

    @property
    def taken(self) -> str:
        """How many arguments the function takes, as a phrase.

        A chain at the end is not counted.
        """
        if self.takes is None:
            return f"at least {counted(self.needs, 'argument')}"
        if self.needs >= self.takes:
            return counted(self.takes, "argument")
        between = "or" if self.takes == self.needs + 1 else "to"
        return f"{self.needs} {between} {counted(self.takes, 'argument')}"


@dataclass(frozen=True, slots=True)
class NativeKernel:
    """A kernel in the native core: the compiled function `symbol`.

    - `arguments` is how many arguments the kernel takes; with `more`, at least that many.
    - `types` are the type words of arguments that are numbers.  The last word also applies to any
      additional arguments.
    - `results` is how many results the kernel has, or None for one result per argument after the
      first `arguments`.
    - `gives` are the type words of the results.
    - `flags` are `layouts.KERNEL_*`.

    The loader checks all of this, because native kernels do not.

    The data words are the addresses of the native functions `data`, followed by the `attributes` in
    BEF's order.  If `attributes` is `("*i32",)`, it means any number of i32, preceded by their
    count.
    """

    name: str
    symbol: str
    arguments: int = 0
    results: int | None = 1
    attributes: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    flags: int = 0
    sync: bool = False
    """Whether the kernel runs only in sync functions."""
    more: bool = False
    types: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConstantKernel:
    """A kernel whose result depends only on its attributes, so that the loader computes the result.

    The result has the type `type`.  A complex result has two attributes: the imaginary part, then
    the real part.
    """

    name: str
    type: str
    attributes: tuple[str, ...]
    sync: bool = False


@dataclass(frozen=True, slots=True)
class ControlKernel:
    """A native kernel that calls functions of the program.

    - `own` is the number of leading arguments that the kernel itself uses, and `types` are their
      type words.  The other arguments are passed to the function.
    - `added` is the number of arguments that the kernel creates; the function receives them first.
    - `extra` is the number of results that the function has in addition to the kernel's results.
    - `functions` is the number of functions that the kernel takes, or None for any number.
    - `fixed_results` is the number of the kernel's results if the function does not produce them.
    """

    name: str
    symbol: str
    own: int = 0
    added: int = 0
    extra: int = 0
    functions: int | None = 1
    fixed_results: int | None = None
    body_results: int | None = None
    """How many results the function has, if nothing else determines this number.

    None means at most one.
    """
    data: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    """The type words of the attributes, which follow `data` in the kernel's data words.

    Attributes that are not numbers are stored as 0.
    """
    sync: bool = False
    """Whether the kernel calls only sync functions."""
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A function that another compiler compiled.

    The function is called through its adapter (`compiled_kernels`).  `arguments` and `results` are
    type words, with `tensor` for tensors.  `code` keeps the adapter's code alive.
    """

    name: str
    adapter: int
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    awaited: tuple[int, ...] = ()
    """The arguments that need not be available before the call.

    The compiled code awaits them.  The adapter takes these arguments last.
    """
    heavy: bool = False
    lasting: bool = False
    """Whether the function may take long: it has calls, loops, or back edges.

    A function may take long without being `heavy`, that is, worth waking a worker.
    """
    code: object = None
    interpreted: bool = False
    """Whether the adapter calls an interpreter instead of machine code."""
    prepare: Callable[[Request], bool] = lambda _: False
    """A function that is called before each run that may call the compiled function."""
    sync: bool = False

    @property
    def order(self) -> tuple[int, ...]:
        """The indexes of the arguments in the adapter's order: the `awaited` ones are last."""
        strict = [i for i in range(len(self.arguments)) if i not in self.awaited]
        return (*strict, *self.awaited)


Kernel = PythonKernel | NativeKernel | ConstantKernel | ControlKernel | CompiledKernel


class KernelRegistry(dict[str, Kernel]):
    """A mapping from names to kernels.  `origin` names its owner in messages about name clashes."""

    def __init__(self, origin: str = "user") -> None:
        super().__init__()
        self.origin = origin
        self.version = 0
        """A number that changes whenever a kernel is added."""

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
        """Return a decorator that registers a function as kernel `name`.

        The decorator returns the function unchanged.

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
        """Register a kernel, and replace an earlier kernel of the same name."""
        self[kernel.name] = kernel
        self.version += 1

    def include(self, other: KernelRegistry) -> None:
        """Add all kernels of `other`.

        Raises:
            TfrtError: if a name is taken.  In that case, no kernel is added.
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
    """Return a function's signature without evaluating annotations that are strings.

    Raises:
        ValueError: if the function is a C function without a signature.
    """
    if sys.version_info >= (3, 14):
        import annotationlib

        return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
    return inspect.signature(function)


def arguments_taken(function: Callable[..., object], others: int) -> tuple[int, int | None]:
    """Return how many arguments a function requires, and how many it takes (None for any number).

    `others` is how many of the function's positional parameters are not arguments of the kernel.
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
