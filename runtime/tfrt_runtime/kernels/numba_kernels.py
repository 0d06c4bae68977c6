"""Python functions in Numba's subset as kernels that run without the GIL.

A function is compiled when the first program that calls it is loaded, once for each list of the types
of its attributes; `native.user_kernels` says what the compiled code looks like.  Numba is imported then,
and not before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from tfrt_runtime.host.payload import bits_of_f64
from tfrt_runtime.host.raw import signed
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.kernels.signatures import Scalar, Signature, Tensor
from tfrt_runtime.native.layouts import TENSOR_DATA, TENSOR_SIZES

if TYPE_CHECKING:
    from collections.abc import Iterable

ATTRIBUTE_TYPES = {bool: "bool_", int: "int64", float: "float64"}


class NumbaFunction:
    """A function with its signature and its machine code, which lives as long as this object.

    `attributes` are the names of its keyword-only parameters, in BEF's order.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., object],
        signature: Signature,
        attributes: tuple[str, ...],
    ) -> None:
        self._name = name
        self._function = function
        self._signature = signature
        self._attributes = attributes
        self._compiled = functools.cache(self._compile)

    def data(self, *attributes: object) -> tuple[int, ...]:
        """The words of a kernel's data.

        Raises:
            KernelError: if the function cannot be compiled, or an attribute is no number.
        """
        for value in attributes:
            if type(value) not in ATTRIBUTE_TYPES:
                raise KernelError(
                    f"an attribute of native kernel '{self._name}' must be a number,"
                    f" found {type(value).__name__}"
                )
        kinds = tuple(ATTRIBUTE_TYPES[type(value)] for value in attributes)
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

    def _compile(self, kinds: tuple[str, ...]) -> Any:
        """The compiled function for attributes of those types, as a Numba cfunc.

        Raises:
            KernelError: if Numba cannot compile it; says why.
        """
        import numba
        from numba.core.errors import NumbaError

        function = numba.njit(_without_keywords(self._function))
        space = {
            "np": np,
            "carray": numba.carray,  # type: ignore[attr-defined]
            "function": function,
            **_intrinsics(),
        }
        exec(entry_text(self._signature, self._attributes, kinds), space)  # noqa: S102
        try:
            compiled = numba.cfunc("int64(voidptr, voidptr)")(space["entry"])
        except NumbaError as wrong:
            raise self._refuse(_reason(wrong)) from None
        self._check_results(function.nopython_signatures[0].return_type)
        return compiled

    def _check_results(self, returned: Any) -> None:
        """Numba would round what is no integer, and Python refuses it."""
        from numba import types

        kinds = {"b": types.Boolean, "i": types.Integer, "u": types.Integer, "f": types.Number}
        results = self._signature.results
        given = list(getattr(returned, "types", [returned]))
        for kind, result in zip(given, results, strict=len(results) > 0):
            if not isinstance(kind, kinds[result.dtype.kind]):
                raise self._refuse(f"it returns {kind} where its signature says {result.word}")
        if not results and not isinstance(returned, types.NoneType):
            raise self._refuse(f"it returns {returned} where its signature says nothing")

    def _refuse(self, reason: str) -> KernelError:
        return KernelError(f"native kernel '{self._name}' cannot be compiled: {reason}")


def entry_text(signature: Signature, attributes: tuple[str, ...], kinds: tuple[str, ...]) -> str:
    """Python for Numba: the function that the native core calls, around `function`.

    What does not fit its result type counts as raised: the Python function says so better.
    """
    lines = ["def entry(given, results):", "  try:"]
    given = []
    for index, argument in enumerate(signature.arguments):
        given.append(f"x{index}")
        lines += _fetch(f"x{index}", index, argument)
    for index, (name, kind) in enumerate(zip(attributes, kinds, strict=True), len(given)):
        given.append(f"{name}=fetch(given, {8 * index}, np.{kind})")
    made = ", ".join(f"r{i}" for i in range(len(signature.results)))
    lines.append(f"    {made + ' = ' if made else ''}function({', '.join(given)})")
    for index, result in enumerate(signature.results):
        lines += _hand_over(f"r{index}", index, result)
    lines += ["  except Exception:", "    return 1", "  return 0"]
    return "\n".join(lines) + "\n"


def _fetch(name: str, index: int, argument: Scalar | Tensor) -> list[str]:
    if isinstance(argument, Scalar):
        return [f"    {name} = fetch(given, {8 * index}, np.{_numpy_name(argument.dtype)})"]
    sizes = [f"fetch({name}t, {TENSOR_SIZES + 8 * i}, np.int64), " for i in range(argument.rank)]
    elements = f"pointer(fetch({name}t, {TENSOR_DATA}, np.int64))"
    return [
        f"    {name}t = pointer(fetch(given, {8 * index}, np.int64))",
        f"    {name} = carray({elements}, ({''.join(sizes)}), np.{_numpy_name(argument.dtype)})",
    ]


def _hand_over(name: str, index: int, result: Scalar) -> list[str]:
    dtype = _numpy_name(result.dtype)
    # Readers take the whole word.
    lines = [f"    put(results, {8 * index}, np.int64(0))"]
    if result.dtype.kind in "iu":
        limits = np.iinfo(dtype)
        lines += [f"    if {name} < {limits.min} or {name} > {limits.max}:", "      return 1"]
    return [*lines, f"    put(results, {8 * index}, np.{dtype}({name}))"]


def _numpy_name(dtype: np.dtype[np.generic]) -> str:
    return "bool_" if dtype == np.bool_ else dtype.name


def _without_keywords(function: Callable[..., object]) -> Callable[..., object]:
    """A function whose keyword-only parameters are ordinary ones: Numba has no others."""
    code = function.__code__
    plain = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    return FunctionType(plain, function.__globals__, function.__name__, None, function.__closure__)


def _attribute_word(value: object) -> int:
    if isinstance(value, float):
        return bits_of_f64(value)
    assert isinstance(value, int)
    return signed(value)


def call_on_arrays(function: Callable[..., object]) -> Callable[..., object]:
    """`function` on what its compiled self would see: arrays in the place of tensors."""

    @functools.wraps(function)
    def call(*values: object) -> object:
        arrays = [v.array if isinstance(v, DenseHostTensor) else v for v in values]
        return function(*arrays)

    return call


def _reason(wrong: Exception) -> str:
    """The lines of Numba's message that are about the function: not its advice."""
    lines: Iterable[str] = (line.strip() for line in str(wrong).splitlines())
    told = [line for line in lines if line and not line.startswith(("Failed in", "During:"))]
    return " ".join(told[:3])


@functools.cache
def _intrinsics() -> dict[str, Callable[..., object]]:
    """What Numba has no words for: `fetch` and `put` numbers at an offset, the `pointer` of an address."""
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
