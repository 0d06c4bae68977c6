"""Functions outside a program that compiled code can call by name.

    func.func private @printI64(i64)

A program must declare such a function with exactly the type in the table, and cannot call any other
external functions.  Python adds functions to the table:

    @external("shop.price", "(i64, f64) -> f64")
    def price(pieces: int, factor: float) -> float:
        return pieces * factor

In a host program the same function is a kernel: `%y = "shop.price"(%n, %f) : (i64, f64) -> f64`.
"""

from __future__ import annotations

import ctypes
import inspect
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import GenericAlias
from typing import Any, TypeVar

from tfrt_runtime.async_runtime.printing import PRINTING
from tfrt_runtime.diagnostics import Diagnostic, counted, refuse, require
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.payload import PayloadError, encode_scalar, read_as
from tfrt_runtime.host.structs import WORDS
from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.kernels.users.annotations import Type
from tfrt_runtime.kernels.users.outcomes import diagnostic_of
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, kernel
from tfrt_runtime.native.layouts import VALUE_PAYLOAD
from tfrt_runtime.native.library import load

Function = TypeVar("Function")

SCALARS: dict[str, Any] = {
    "i1": ctypes.c_bool,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}
"""The argument and result types of functions that Python registers, with their C types.

A program's `index` is an i64.
"""


@dataclass(slots=True)
class PythonExternal:
    """A function that Python code has registered.

    If `address` is not None, it is the address of a native function.  Compiled code calls that
    function directly, with C types and without the GIL.  If `address` is None, `function` is called
    with the GIL, and an exception that it raises becomes an error at the call.
    """

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    function: object
    address: int | None = None

    @property
    def type(self) -> str:
        """The function's type in MLIR syntax."""
        results = ", ".join(self.results)
        if len(self.results) != 1:
            results = f"({results})"
        return f"({', '.join(self.arguments)}) -> {results}"

    @property
    def symbol(self) -> str:
        """The function's name in machine code.

        No function in a program or library has this name.
        """
        kind = "python" if self.address is None else "native"
        return f"external.{kind}.{self.type}.{self.name}"

    @property
    def failed(self) -> str:
        """The message of the assertion that follows the call; see `failure_of_call`."""
        return f"'{self.name}' failed"


_registered: dict[str, PythonExternal] = {}
_addresses: dict[str, int] = {}
_kept: list[object] = []
"""The callbacks, kept because machine code may call them until the process exits."""
_lock = threading.RLock()
_local = threading.local()


def external(name: str, type_: str) -> Callable[[Function], Function]:
    """Let programs call the decorated function.

    Compiled code declares the function as `func.func private @name(i64) -> f64`.  A host program
    calls it as the kernel `"name"(%x) : (i64) -> f64`, unless `@kernel` has registered another
    kernel of that name.

    The type is in MLIR syntax: `(i64, f64) -> f64`, `(i1) -> ()`.  The scalars are i1, i8, i16,
    i32, i64, f32, and f64.  A program's `index` is an i64.

    A Python function is called with the GIL, on the thread that reaches the call.  It returns a
    number, a tuple for several results, or None for no result.  If the function raises an
    exception, the call fails with a program error.  Raise `KernelError` for a custom message.

    Compiled code calls a ctypes function directly, without the GIL, and does the same for an object
    with an `address`, such as Numba's `cfunc`.  Such a function can have at most one result.  Its C
    types must correspond to the given type, which cannot be checked.

    A function that is registered later under the same name replaces the earlier one, even in loaded
    programs if both are Python functions of the same type.

    Raises:
        TfrtError: if the name is taken or the type is invalid.
    """
    require(isinstance(name, str), "the name of an external function", "a string", name)
    require(isinstance(type_, str), "its type", "a string such as '(i64, f64) -> f64'", type_)
    if name in PRINTING:
        refuse(f"'{name}' is a function of the runtime: choose another name")
    arguments, results = _parse(type_)

    def register(function: Function) -> Function:
        made = PythonExternal(name, arguments, results, function, _native_address(function))
        if made.address is None and not callable(function):
            refuse(f"'{name}' is registered with {function!r}, which is not a function")
        if made.address is not None and len(results) > 1:
            refuse(f"'{name}': a native function has at most one result")
        with _lock:
            _registered[name] = _by_symbol[made.symbol] = made
            if made.address is not None:
                _kept.append(function)
                _addresses[made.symbol] = made.address
            # A callback finds the latest function of its symbol, so each symbol needs only one.
            elif made.symbol not in _addresses:
                _addresses[made.symbol] = _callback(made.symbol)
            known = USER_FUNCTIONS.get(name)
            # A function in `_kept` was registered here; any other one was registered by the user as
            # a kernel.
            if known is None or known.function in _kept:
                _kept.append(host_function := _host_function(made))
                kernel(name)(host_function)
        return function

    return register


def provide(symbol: str, function: ctypes._FuncPointer) -> None:
    """Let generated code call a C function under a name that no program can declare.

    The code is generated by one of the compiler's passes.
    """
    _kept.append(function)
    _addresses[symbol] = ctypes.cast(function, ctypes.c_void_p).value or 0


_by_symbol: dict[str, PythonExternal] = {}
"""The latest function for each symbol.  A symbol contains the name, the type, and the kind."""


def link_runtime() -> None:
    """Let C libraries that are loaded later find the runtime's C functions by name."""
    ctypes.CDLL(load()._library._name, ctypes.RTLD_GLOBAL)


def registered() -> Mapping[str, PythonExternal]:
    """Return the functions that Python code has registered, keyed by name."""
    return _registered


def address_of(symbol: str) -> int | None:
    """Return the address that machine code calls for the symbol of a registered function."""
    return _addresses.get(symbol)


def _host_function(made: PythonExternal) -> Callable[..., object]:
    """Return a kernel function that calls a registered function, with the registered types."""
    called: Any = made.function
    if made.address is not None:
        result = SCALARS[made.results[0]] if made.results else None
        called = ctypes.CFUNCTYPE(result, *map(SCALARS.__getitem__, made.arguments))(made.address)

    def call(*values: object) -> object:
        return called(*values)

    kinds: list[Any] = [Type(word, lambda value, _: value) for word in made.arguments]
    parameters = [
        inspect.Parameter(f"arg{index}", inspect.Parameter.POSITIONAL_ONLY, annotation=one)
        for index, one in enumerate(kinds)
    ]
    kinds = [Type(word, lambda value, _: value) for word in made.results] or [None]
    returned = kinds[0] if len(kinds) == 1 else GenericAlias(tuple, tuple(kinds))
    signature = inspect.Signature(parameters, return_annotation=returned)
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = getattr(made.function, "__doc__", None)
    return call


def _parse(type_: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    match = re.fullmatch(r"\s*\(([^()]*)\)\s*->\s*(?:\(([^()]*)\)|([^()]*))\s*", type_)
    if match is None:
        refuse(f"expected a type such as '(i64, f64) -> f64', found '{type_}'")
    results = match[3] if match[2] is None else match[2]
    return _words(match[1]), _words(results)


def _words(text: str) -> tuple[str, ...]:
    if not text.strip():
        return ()
    words = tuple(word.strip() for word in text.split(","))
    for word in words:
        if word not in SCALARS:
            expected = ", ".join(SCALARS)
            refuse(f"a registered function takes and returns numbers ({expected}), found '{word}'")
    return words


def _native_address(function: object) -> int | None:
    """Return the address of a native function, or None if Python must call the function."""
    if isinstance(function, _NATIVE):
        return (
            None if function._flags_ & _NEEDS_GIL else ctypes.cast(function, ctypes.c_void_p).value
        )
    address = getattr(function, "address", None)
    return address if isinstance(address, int) and address else None


# ctypes has no public names for the base class of its functions and for this flag.
_NATIVE: Any = ctypes.CFUNCTYPE(None).__base__
_NEEDS_GIL = ctypes.PYFUNCTYPE(None)._flags_ & ~ctypes.CFUNCTYPE(None)._flags_


def _callback(symbol: str) -> int:
    """Return the address of a native function that calls the Python function of `symbol`.

    The native function takes the address of one word per argument, and stores the results in the
    same words.  It returns 1, or 0 if the Python function raised an exception.
    """

    def call(words: int) -> int:
        made = _by_symbol[symbol]
        # A failed assertion of the program must not find the exception of an earlier call.
        _local.failure = None
        try:
            # This may raise an interrupt that has arrived before, so it must be inside `try`.
            INTERRUPTS.allow()
            _call(made, words)
            INTERRUPTS.forbid()
        except BaseException as exception:  # noqa: BLE001 - it becomes the call's error
            INTERRUPTS.forbid()
            _local.failure = made.failed, diagnostic_of(exception, None)
            _local.is_interrupt = isinstance(exception, KeyboardInterrupt)
            return 0
        return 1

    callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(call)
    _kept.append(callback)
    return ctypes.cast(callback, ctypes.c_void_p).value or 0


def _call(made: PythonExternal, words: int) -> None:
    # Each scalar is read as if it were a value's payload.
    arguments = [
        read_as(word, words + 8 * index - VALUE_PAYLOAD)
        for index, word in enumerate(made.arguments)
    ]
    assert callable(made.function)
    returned = made.function(*arguments)
    values = (returned,)
    if len(made.results) != 1:
        values = returned if isinstance(returned, tuple) else () if returned is None else values
    if len(values) != len(made.results):
        raise KernelError(
            f"'{made.name}' returned {counted(len(values), 'value')} for {counted(len(made.results), 'result')}"  # noqa: E501
        )
    for index, (word, value) in enumerate(zip(made.results, values, strict=True)):
        try:
            WORDS[(words >> 3) + index] = encode_scalar(word, value)[0]
        except PayloadError as wrong:
            raise KernelError(f"result {index} of '{made.name}': {wrong}") from None


def failure_of_call(failed: Diagnostic) -> tuple[Diagnostic, bool]:
    """Return the error of an assertion that failed on this thread, and a flag.

    The flag is True if an interrupt caused the failure.  `failed` is the assertion's own error.  If
    the assertion follows a call to a registered function that raised an exception, the returned
    error is for that exception, at the location of `failed`.
    """
    failure: tuple[str, Diagnostic] | None = getattr(_local, "failure", None)
    if failure is None or failure[0] != failed.message:
        return failed, False
    return replace(failure[1], location=failed.location), _local.is_interrupt
