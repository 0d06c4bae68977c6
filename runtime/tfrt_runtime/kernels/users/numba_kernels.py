"""Compile Python functions in Numba's subset of Python to kernels that run without the GIL.

A function is compiled, once for each list of attribute types, when the first program that calls the
kernel is loaded.  Numba is not imported before that.  `native.kernels.user_kernels` describes how
the core calls the compiled code.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from tfrt_runtime.diagnostics import counted
from tfrt_runtime.host.failures import place_of
from tfrt_runtime.host.payload import HostTensor, bits_of_f64
from tfrt_runtime.host.structs import signed
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.values.fitting import as_dense, as_tensor
from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.kernels.users.numba_checks import checked_compiler
from tfrt_runtime.kernels.users.signatures import Scalar, Signature, Tensor
from tfrt_runtime.native.layouts import TENSOR_DATA, TENSOR_SIZES

ATTRIBUTE_TYPES = {bool: "bool_", int: "int64", float: "float64"}
_NUMBERS = {"b": bool, "i": int, "u": int, "f": float}
"""Python's number types, by the letter that numpy uses for the kind of a type."""

UNCHECKED = {"flat", "as_strided", "carray", "farray"}
"""Names of functions that give unchecked access to memory outside arrays."""
# Numba's message when it cannot reraise an exception.
_NOT_PASSED_ON = "Unreachable condition reached"


class NumbaFunction:
    """A function with its signature and its machine code.

    Owns:
        the machine code, which is freed with this object
    """

    def __init__(self, name: str, function: Callable[..., object], signature: Signature) -> None:
        self._name = name
        self._function = function
        self._signature = signature
        self._compiled = functools.cache(self._compile)
        self._dispatcher = functools.cache(self._make_dispatcher)
        self._thread = threading.local()
        self._kept: list[object] = []  # objects whose addresses are in compiled code

    def data(self, *attributes: object) -> tuple[int, ...]:
        """Return the kernel's data words for these attributes.

        The first call for attributes of these types compiles the function.  The attributes must be
        in the order of the keyword parameters.

        Raises:
            KernelError: if the function cannot be compiled or an attribute is not a number.
        """
        kinds = self._kinds(attributes)
        arguments, results = self._signature.arguments, self._signature.results
        return (
            self._compiled(kinds).address,
            len(arguments),
            len(results),
            len(attributes),
            *(argument.payload for argument in arguments),
            *(result.payload for result in results),
            *map(_attribute_word, attributes),
        )

    def _kinds(self, attributes: Sequence[object]) -> tuple[str, ...]:
        """Return Numba's types for the attributes.

        Raises:
            KernelError: if an attribute is not a number.
        """
        for value in attributes:
            if type(value) not in ATTRIBUTE_TYPES:
                raise KernelError(
                    f"an attribute of native kernel '{self._name}' must be a number,"
                    f" found {type(value).__name__}"
                )
        return tuple(
            "uint64" if isinstance(value, int) and value >= 2**63 else ATTRIBUTE_TYPES[type(value)]
            for value in attributes
        )

    def prepare(self, *attributes: object) -> None:
        """Compile the function for `call` with attributes of these types.

        Raises:
            KernelError: if the function cannot be compiled or an attribute is not a number.
        """
        self._dispatcher(self._kinds(attributes))

    def call(self, *values: object) -> object:
        """Call the compiled function without the GIL; return its result, with arrays as tensors.

        Kernels that return arrays run this way, called from Python.
        """
        arguments = self._signature.arguments
        given = tuple(map(self._fit, values, arguments))
        attributes = values[len(arguments) :]
        found = self._dispatcher(self._kinds(attributes))(*given, *attributes)
        if not self._signature.returns_tensors:
            return found
        items = found if len(self._signature.results) > 1 else (found,)
        made = tuple(as_tensor(i) if isinstance(i, np.ndarray) else i for i in items)
        return made if len(made) > 1 else made[0]

    def _fit(self, value: object, argument: Scalar | Tensor) -> object:
        """Return an argument in the form that the compiled function takes.

        Raises:
            KernelError: if the argument has another type.  Otherwise, Numba would compile the
                function again for the other type.
        """
        if isinstance(argument, Scalar):
            if type(value) is not _NUMBERS[argument.dtype.kind]:
                found = type(value).__name__
                raise KernelError(f"'{self._name}' takes {argument.word}, found {found}")
            return argument.calculated.type(argument.dtype.type(value))
        wanted = f"a tensor of {argument.element} of rank {argument.rank}"
        if not isinstance(value, HostTensor):
            value = as_dense(value, wanted)
        if isinstance(value, DenseHostTensor):
            if value.element_type is argument.element and value.shape.rank == argument.rank:
                # A view, because the flag of the tensor's own array must not change.
                array = (value.writable() if argument.is_out else value).array.view()
                array.flags.writeable = argument.is_out
                return array
            found = f"one of {value.element_type} of rank {value.shape.rank}"
        else:
            found = type(value).__name__
        raise KernelError(f"'{self._name}' takes {wanted}, found {found}")

    def in_python(self, function: Callable[..., object]) -> Callable[..., object]:
        """Return a function that finishes a call that the machine code could not finish.

        If the machine code raised an exception, the function raises it.  If an argument is a numpy
        array rather than a tensor, the function converts it and calls the compiled function.
        Otherwise, the function calls `function` in Python, with the same arguments as the compiled
        function: arrays instead of tensors.
        """
        arguments = self._signature.arguments

        @functools.wraps(function)
        def call(*values: object) -> object:
            raised: BaseException | None = self._thread.__dict__.pop("raised", None)
            if raised is not None:
                if isinstance(raised, AssertionError) and str(raised).startswith(_NOT_PASSED_ON):
                    raise KernelError(
                        "Numba does not pass on an exception through 'finally' or an 'except' that"
                        " does not catch it: catch it with 'except Exception'"
                    )
                if raised.__traceback__ is None:  # Numba's own errors have no line number
                    raised.__traceback__ = place_of(self._function)
                raise raised
            arrays, is_new = list(values), False
            for index, (argument, value) in enumerate(zip(arguments, values, strict=False)):
                if isinstance(argument, Tensor):
                    arrays[index] = self._fit(value, argument)
                    is_new |= not isinstance(value, HostTensor)
            return self.call(*values) if is_new else function(*arrays)

        return call

    def _make_dispatcher(self, kinds: tuple[str, ...]) -> Any:
        """Compile the function for its argument types and the given attribute types only.

        Return the function in the form in which Python code calls it.

        Raises:
            KernelError: if Numba cannot compile the function; the message says why.
        """
        try:
            import numba
        except Exception as wrong:
            reason = "it needs Numba: pip install 'tfrt-nb[native]'"
            # For example, Numba rejects this version of numpy.
            if getattr(wrong, "name", None) != "numba":
                reason = f"Numba cannot be imported: {type(wrong).__name__}: {wrong}"
            raise self._refuse(reason) from wrong

        self._refuse_unchecked(self._function, ())
        types = [_numba_type(argument) for argument in self._signature.arguments]
        types += [getattr(numba, kind) for kind in kinds]
        compiler = checked_compiler()
        function = numba.njit(nogil=True, pipeline_class=compiler)(
            _without_keywords(self._function)
        )
        made: Any = function
        try:
            with _bounds_checked():
                made.compile(tuple(types))
        except Exception as wrong:  # noqa: BLE001 - Numba raises all kinds of exceptions
            raise self._refuse(_reason(wrong)) from None
        made.disable_compile()
        self._check_results(made.nopython_signatures[0].return_type)
        return made

    def _compile(self, kinds: tuple[str, ...]) -> Any:
        """Compile the function for attributes of these types, and return it as a Numba cfunc.

        Raises:
            KernelError: if Numba cannot compile the function; the message says why.
        """
        function = self._dispatcher(kinds)
        import numba

        space: dict[str, Any] = {
            "np": np,
            "carray": numba.carray,  # type: ignore[attr-defined]
            "function": function,
            **_intrinsics(),
        }
        exec(entry_text(self._signature, kinds), space)  # noqa: S102
        # Use a C function, because a signal could interrupt Python code.
        keep = functools.partial(setattr, self._thread, "raised")
        self._kept.append(keep)
        try:
            with _bounds_checked():
                entry = numba.njit("void(voidptr, voidptr)")(space["entry"])
                attempt = _attempt(entry, keep)
                compiled = numba.cfunc("int64(voidptr, voidptr)")(
                    lambda given, results: attempt(given, results)
                )
        except Exception as wrong:  # noqa: BLE001 - Numba raises all kinds of exceptions
            raise self._refuse(_reason(wrong)) from None
        return compiled

    def _refuse_unchecked(
        self, function: Callable[..., object], callers: tuple[object, ...]
    ) -> None:
        """Reject a function whose compiled code could leave an array or overflow the stack.

        Raises:
            KernelError: if the function uses a name in UNCHECKED or calls itself.
        """
        if unchecked := UNCHECKED & set(function.__code__.co_names):
            raise self._refuse(f"'{min(unchecked)}' is not checked for bounds: index an array")
        named = inspect.getclosurevars(function)
        # The code's names include attributes, such as `median` in `np.median`.
        loaded = {
            one.argval for one in dis.get_instructions(function) if one.opname == "LOAD_GLOBAL"
        }
        used = [value for name, value in named.globals.items() if name in loaded]
        for called in (*used, *named.nonlocals.values()):
            python = getattr(called, "py_func", called)
            # Compare by identity, because an array has no truth value.
            if any(python is caller for caller in (function, *callers)):
                raise self._refuse(f"'{python.__name__}' calls itself: use a loop")
            if python is not called:
                self._refuse_unchecked(python, (function, *callers))

    def _check_results(self, returned: Any) -> None:
        """Check that the function returns the types of its signature.

        Numba itself would round numbers that Python rejects.

        Raises:
            KernelError: if the number of results or a type differs.
        """
        from numba import types

        kinds = {"b": types.Boolean, "i": types.Integer, "u": types.Integer, "f": types.Number}
        results = self._signature.results
        given = list(getattr(returned, "types", [returned]))
        if results and len(given) != len(results):
            count = f"{counted(len(given), 'value')} where its signature says {len(results)}"
            raise self._refuse(f"it returns {count}")
        if len(results) == 1:
            given = [returned]
        for kind, result in zip(given, results, strict=False):
            if isinstance(result, Tensor):
                is_right = (
                    isinstance(kind, types.Array)
                    and kind.ndim == result.rank
                    and kind.dtype == _numba_type(result).dtype
                )
            else:
                is_right = isinstance(kind, kinds[result.dtype.kind])
            if not is_right:
                wanted = result.word
                if isinstance(result, Tensor):
                    wanted = f"tensor<{'?x' * result.rank}{result.element.word}>"
                raise self._refuse(f"it returns {kind} where its signature says {wanted}")
        if not results and not isinstance(returned, types.NoneType):
            raise self._refuse(f"it returns {returned} but its signature has no results")

    def _refuse(self, reason: str) -> KernelError:
        return KernelError(f"native kernel '{self._name}' cannot be compiled: {reason}")


def entry_text(signature: Signature, kinds: tuple[str, ...]) -> str:
    """Return the Python source of the wrapper that the core calls, for Numba to compile.

    The wrapper reads the arguments, calls the kernel's function, and stores its results, which are
    numbers.
    """
    lines = ["def entry(given, results):"]
    given = []
    for index, argument in enumerate(signature.arguments):
        name, dtype = f"x{index}", _numpy_name(argument.dtype)
        given.append(name)
        if isinstance(argument, Scalar):
            number = f"fetch(given, {8 * index}, np.{dtype})"
            lines.append(f"  {name} = np.{_numpy_name(argument.calculated)}({number})")
            continue
        places = (TENSOR_SIZES + 8 * i for i in range(argument.rank))
        sizes = "".join(f"fetch({name}t, {place}, np.int64), " for place in places)
        elements = f"pointer(fetch({name}t, {TENSOR_DATA}, np.int64))"
        lines.append(f"  {name}t = pointer(fetch(given, {8 * index}, np.int64))")
        lines.append(f"  {name} = carray({elements}, ({sizes}), np.{dtype})")
    for index, kind in enumerate(kinds, len(given)):
        given.append(f"fetch(given, {8 * index}, np.{kind})")
    made = ", ".join(f"r{i}" for i in range(len(signature.results)))
    lines.append(f"  {made + ' = ' if made else ''}function({', '.join(given)})")
    for index, result in enumerate(signature.results):
        lines.append(f"  put(results, {8 * index}, np.int64(0))")  # readers use the whole word
        number = f"np.{_numpy_name(result.dtype)}(r{index})"  # integers wrap around
        lines.append(f"  put(results, {8 * index}, {number})")
    return "\n".join(lines) + "\n"


def _numba_type(argument: Scalar | Tensor) -> Any:
    """Return Numba's type for an argument; an array is read-only unless it is an out tensor."""
    from numba import from_dtype, types

    dtype: Any = argument.calculated if isinstance(argument, Scalar) else argument.dtype
    kind = from_dtype(dtype)
    if isinstance(argument, Scalar):
        return kind
    return types.Array(kind, argument.rank, "C", readonly=not argument.is_out)


def _numpy_name(dtype: np.dtype[np.generic]) -> str:
    return "bool_" if dtype == np.bool_ else dtype.name


def _without_keywords(function: Callable[..., object]) -> FunctionType:
    """Return the function with its keyword-only parameters made positional, as Numba requires."""
    code = function.__code__
    plain = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    return FunctionType(plain, function.__globals__, function.__name__, None, function.__closure__)


def _attribute_word(value: object) -> int:
    if isinstance(value, float):
        return bits_of_f64(value)
    assert isinstance(value, int)
    return signed(value)


_lock = threading.RLock()


@contextlib.contextmanager
def _bounds_checked() -> Iterator[None]:
    """Make Numba check array indexes in the code that is compiled in the `with` block.

    The check covers the functions that a kernel calls, too.
    """
    from numba.core import config as config_module

    config: Any = config_module
    with _lock:
        before = config.BOUNDSCHECK
        config.BOUNDSCHECK = 1
        try:
            yield
        finally:
            config.BOUNDSCHECK = before


def _attempt(entry: Any, keep: Callable[[BaseException], None]) -> Any:
    """Return an intrinsic that calls the compiled `entry` and returns 1 if `entry` raised.

    The intrinsic passes the exception to `keep`.  Numba's own `try` does not suffice, because it
    does not make the exception available.  Calling the function again in Python would raise the
    same exception, but the function would then have run twice on the arrays that it writes.
    """
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    [compiled] = entry.overloads.values()

    def attempt(typing_context: object, given: Any, results: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            context.active_code_library.add_linking_library(compiled.library)
            status, _ = context.call_internal_no_propagate(
                builder, compiled.fndesc, compiled.signature, values
            )
            with builder.if_then(status.is_error, likely=False):
                api = context.get_python_api(builder)
                lock = api.gil_ensure()
                context.call_conv.raise_error(builder, api, status)
                places = [builder.alloca(api.pyobj) for _ in range(3)]
                kind = ir.FunctionType(ir.VoidType(), [api.pyobj.as_pointer()] * 3)
                for name in ("PyErr_Fetch", "PyErr_NormalizeException"):
                    builder.call(api._get_function(kind, name), places)
                kind, raised, frames = map(builder.load, places)
                none = ir.Constant(api.pyobj, None)
                with builder.if_then(builder.icmp_unsigned("!=", frames, none)):
                    set_frames = ir.FunctionType(ir.IntType(32), [api.pyobj] * 2)
                    set_traceback = api._get_function(set_frames, "PyException_SetTraceback")
                    builder.call(set_traceback, [raised, frames])
                address = ir.Constant(ir.IntType(64), id(keep))
                function = builder.inttoptr(address, api.pyobj)
                api.decref(api.call_function_objargs(function, (raised,)))
                for value in (kind, raised, frames):
                    api.decref(value)
                api.gil_release(lock)
            return builder.zext(status.is_error, ir.IntType(64))

        return types.int64(types.voidptr, types.voidptr), codegen

    return intrinsic(attempt)


def _reason(wrong: Exception) -> str:
    """Return the part of Numba's message that is about the function, without Numba's advice."""
    if "readonly array" in str(wrong) and ("setitem" in str(wrong) or "modify" in str(wrong)):
        return (
            "it writes a shared array: annotate it tfrt.out[tfrt.tensor[...]], in a"
            " signature 'out tensor<...>', or write a copy"
        )
    # Raised inside Numba, for example by `x += 1` on a read-only array.
    if isinstance(wrong, AttributeError):
        return f"Numba fails on it ({wrong}); only arrays annotated tfrt.out[...] can be written"
    lines: Iterable[str] = (line.strip() for line in str(wrong).splitlines())
    kept = [line for line in lines if line and not line.startswith(("Failed in", "During:"))]
    return " ".join(kept[:3])


@functools.cache
def _intrinsics() -> dict[str, Callable[..., object]]:
    """Return three operations that Numba lacks, by name.

    - `fetch` reads a number at an offset from a pointer.
    - `put` writes a number at an offset from a pointer.
    - `pointer` converts an address to a pointer.
    """
    from numba import types
    from numba.extending import intrinsic

    def place(context: Any, builder: Any, kind: Any, pointer: Any, offset: Any) -> Any:
        data = context.get_data_type(kind).as_pointer()
        return builder.bitcast(builder.gep(pointer, [offset]), data)

    def fetch(typing_context: object, pointer: Any, offset: Any, kind: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            at = place(context, builder, kind.dtype, *values[:2])
            return context.unpack_value(builder, kind.dtype, at)

        return kind.dtype(pointer, offset, kind), codegen

    def put(typing_context: object, pointer: Any, offset: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            at = place(context, builder, value, *values[:2])
            context.pack_value(builder, value, values[2], at)
            return context.get_dummy_value()

        return types.void(pointer, offset, value), codegen

    def pointer(typing_context: object, address: object) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

        return types.voidptr(types.int64), codegen

    return {function.__name__: intrinsic(function) for function in (fetch, put, pointer)}
