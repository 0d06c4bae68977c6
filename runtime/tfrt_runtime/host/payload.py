"""Python objects in native memory: payloads of AsyncValues as Python values, and back.

A payload is one or two words; its type is a small number in the value's header (`layouts.TYPE_*`).
Numbers are stored as their bits, a chain as nothing, everything else as a handle into the object
table.  Classes whose slots native code reads are bases of those that have them.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import operator
import struct
from collections.abc import Callable
from contextvars import Context, ContextVar
from functools import partial
from typing import Any, Final, final

from tfrt_runtime.bef.attributes import pack, unpack
from tfrt_runtime.bef.records import DType
from tfrt_runtime.host.structs import DOUBLES, FLOATS, HALVES, WORDS, signed
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.layouts import VALUE_KIND, VALUE_PAYLOAD, VALUE_PAYLOAD2


class ObjectTable:
    """Handles of Python objects.  Each handle has one owner, which releases it once.

    Safe from any thread that holds the GIL.
    """

    def __init__(
        self, function: Callable[[str], Callable[..., Any]], count: Callable[[], int]
    ) -> None:
        """`function` gives functions of `native.python.python_entries`; `count` says how many
        handles exist.
        """
        self.add: Callable[[object], int] = function("object_add")
        """A new handle to an object."""
        self.get: Callable[[int], object] = function("object_get")
        """The object behind a handle."""
        self.release: Callable[[int], object] = function("object_take")
        """End a handle; its object, which may die with the caller's reference."""
        self._count = count

    def __len__(self) -> int:
        return self._count()


class NoObject:
    """A base of classes whose instances mean something else than an object, where a kernel
    returns one.
    """

    __slots__ = ()


@final
class Chain(NoObject):
    """The value of a `!tfrt.chain`: it says that something has happened, and nothing else."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "CHAIN"

    def __reduce__(self) -> str:
        """A copy is the same one, in another process that of its module."""
        return "CHAIN"


CHAIN: Final = Chain()


class HostTensor:
    """A base of all tensors of programs, whatever holds their elements."""

    __slots__ = ()


class NativeTensor(NoObject, HostTensor):
    """A base of tensors that native kernels can have; `native.python.python_runs` reads `_handle`.

    It is None, or an object with the `address` of the native tensor.
    """

    __slots__ = ("_handle",)


class NativeValue(NoObject):
    """A base of AsyncValue; `native.python.python_runs` reads `_address`.

    It is that of the native value, or 0 when the object dies.
    """

    __slots__ = ("_address",)
    _address: int


class Run:
    """A base of runs: `native.python` sets the attributes."""

    __slots__ = ("address", "caller", "words")
    words: bytes
    """The native words of the run, which live as long as it."""
    address: int
    """Their address."""
    caller: Context
    """The context of the call that started the run, if it carries one."""


RUN: ContextVar[bytes | None] = ContextVar("RUN", default=None)
"""The words of the run to which code belongs: that of the kernel that runs it, or has started the
task or thread that does.

They do not hold the run, and while they exist no other run has their address.
"""


def address_of_words(words: bytes) -> int:
    """The address of a run's words."""
    return ctypes.cast(ctypes.c_char_p(words), ctypes.c_void_p).value or 0


SCALAR_TYPES: dict[str, int] = {
    "i1": at.TYPE_I1,
    "i8": at.TYPE_I8,
    "i16": at.TYPE_I16,
    "i32": at.TYPE_I32,
    "i64": at.TYPE_I64,
    "ui8": at.TYPE_UI8,
    "ui16": at.TYPE_UI16,
    "ui32": at.TYPE_UI32,
    "ui64": at.TYPE_UI64,
    "f16": at.TYPE_F16,
    "bf16": at.TYPE_BF16,
    "f32": at.TYPE_F32,
    "f64": at.TYPE_F64,
    "complex64": at.TYPE_COMPLEX64,
    "complex128": at.TYPE_COMPLEX128,
}
"""Type words of the scalars, to the types of payloads."""

INTEGER_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
UNSIGNED_BITS = {"ui8": 8, "ui16": 16, "ui32": 32, "ui64": 64}


def bits_of_f64(number: float) -> int:
    """A double as a word."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def bits_of_f32(number: float) -> int:
    """A number rounded to 32 bits, as a word with the upper half 0."""
    try:
        packed = struct.pack("<f", number)
    except OverflowError:  # struct refuses what C rounds to infinity
        packed = struct.pack("<f", float("inf") if number > 0 else float("-inf"))
    return int(struct.unpack("<I", packed)[0])


def bits_of_short(dtype: DType, number: float) -> int:
    """A number rounded to a float of 16 bits, as a word with the other bits 0."""
    return int.from_bytes(pack(dtype, (number,)), "little")


_TOO_LARGE = {
    "f16": 2.0**16 - 2.0**4,
    "bf16": 2.0**128 - 2.0**119,
    "f32": 2.0**128 - 2.0**103,
    "f64": math.inf,
}
"""The least number that each type rounds to infinity."""


_BITS_OF: dict[str, Callable[[float], int]] = {
    "f16": partial(bits_of_short, DType.F16),
    "bf16": partial(bits_of_short, DType.BF16),
    "f32": bits_of_f32,
    "f64": bits_of_f64,
}


def _short(dtype: DType) -> Callable[[int], object]:
    """The function that reads a float of 16 bits."""
    first = VALUE_PAYLOAD >> 3
    return lambda value: unpack(
        dtype, (WORDS[(value >> 3) + first] & 0xFFFF).to_bytes(2, "little")
    )[0]


class PayloadError(TypeError):
    """A Python value does not fit the type that a program gives it; the text says both."""


def encode_integer(word: str, number: object) -> int:
    """Return an integer of `word`'s width as a payload word.

    Raises:
        PayloadError: if it is not an integer, or is out of range.
    """
    if not isinstance(number, int):
        number = as_index(word, number)
    if word == "i1":
        if number not in (0, 1):
            raise PayloadError(f"{written(number)} does not fit in i1")
        return int(number)
    bits = INTEGER_BITS.get(word) or UNSIGNED_BITS[word]
    low, high = (0, 2**bits) if word in UNSIGNED_BITS else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    if not low <= number < high:
        raise PayloadError(f"{written(number)} does not fit in {word}")
    return (number + 2**63) % 2**64 - 2**63


def written(number: int) -> str:
    """A whole number in a message; Python refuses to write one of thousands of digits."""
    bits = number.bit_length()
    return str(number) if bits <= 128 else f"an integer of {bits} bits"


def as_index(word: str, number: object) -> int:
    """Return the Python integer for a numpy integer or a similar object."""
    if not has_dimensions(number):
        if str(getattr(number, "dtype", "")) == "bool":  # which has no __index__
            return bool(number)
        # A class has the method, and is no number.
        with contextlib.suppress(TypeError):
            return operator.index(number)  # type: ignore[arg-type]
    raise PayloadError(f"expected {word}, found {type(number).__name__}")


def has_dimensions(value: object) -> bool:
    """Whether a value is an array, and not one number."""
    count = getattr(value, "ndim", 0)
    return isinstance(count, int) and count != 0  # an attribute of a dask.delayed has no truth


def encode_scalar(word: str, number: object) -> tuple[int, int]:
    """A scalar of type `word` as two payload words.

    Raises:
        PayloadError: if the value is of another kind, or out of range.
    """
    if word.startswith(("i", "ui")):
        return encode_integer(word, number), 0
    if word in ("complex64", "complex128"):
        if not isinstance(number, (int, float, complex)):
            raise PayloadError(f"expected {word}, found {type(number).__name__}")
        pair = complex(number)
        encode = bits_of_f32 if word == "complex64" else bits_of_f64
        return encode(pair.real), encode(pair.imag)
    if type(number) is not float:
        # An array has the method, and is a number only with no dimensions.
        if not hasattr(number, "__float__") or has_dimensions(number):
            raise PayloadError(f"expected {word}, found {type(number).__name__}")
        try:
            number = float(number)
        except OverflowError:
            found = written(number) if isinstance(number, int) else "a number"
            raise PayloadError(f"{found} does not fit in {word}") from None
        except (ValueError, TypeError) as wrong:
            raise PayloadError(f"expected {word}, found {type(number).__name__}: {wrong}") from None
    if _TOO_LARGE[word] <= abs(number) < math.inf:
        raise PayloadError(f"{number} does not fit in {word}")
    return _BITS_OF[word](number), 0


def _unsigned(bits: int) -> Callable[[int], int]:
    mask = 2**bits - 1
    return lambda value: WORDS[(value + VALUE_PAYLOAD) >> 3] & mask


def _signed(bits: int) -> Callable[[int], int]:
    half = 1 << (bits - 1)
    mask = 2**bits - 1
    return lambda value: ((WORDS[(value + VALUE_PAYLOAD) >> 3] & mask) ^ half) - half


READERS: dict[int, Callable[[int], object]] = {
    at.TYPE_I1: lambda value: bool(WORDS[(value + VALUE_PAYLOAD) >> 3] & 1),
    at.TYPE_I8: _signed(8),
    at.TYPE_I16: _signed(16),
    at.TYPE_I32: lambda value: HALVES[(value + VALUE_PAYLOAD) >> 2],
    at.TYPE_I64: lambda value: WORDS[(value + VALUE_PAYLOAD) >> 3],
    at.TYPE_UI8: _unsigned(8),
    at.TYPE_UI16: _unsigned(16),
    at.TYPE_UI32: _unsigned(32),
    at.TYPE_UI64: _unsigned(64),
    at.TYPE_F16: _short(DType.F16),
    at.TYPE_BF16: _short(DType.BF16),
    at.TYPE_F32: lambda value: FLOATS[(value + VALUE_PAYLOAD) >> 2],
    at.TYPE_F64: lambda value: DOUBLES[(value + VALUE_PAYLOAD) >> 3],
    at.TYPE_COMPLEX64: lambda value: complex(
        FLOATS[(value + VALUE_PAYLOAD) >> 2], FLOATS[(value + VALUE_PAYLOAD2) >> 2]
    ),
    at.TYPE_COMPLEX128: lambda value: complex(
        DOUBLES[(value + VALUE_PAYLOAD) >> 3], DOUBLES[(value + VALUE_PAYLOAD2) >> 3]
    ),
    at.TYPE_ATOMIC_I32: lambda value: HALVES[(value + VALUE_PAYLOAD) >> 2],
}
"""The functions that create a Python value from the payload of the value at an address, by the
payload's type.
"""


ENCODERS: dict[type, tuple[int, Callable[[Any], int]]] = {}
"""Classes whose objects are payloads of a type of their own, and what makes the word, which the
object keeps alive.
"""


FACES: dict[type, Callable[[Any], object]] = {}
"""Classes of the runtime that Python programs see as something else, and what makes that of
them.
"""


def as_python(value: object) -> object:
    """A payload as users see it: a tensor is a numpy array that must not be written."""
    face = FACES.get(type(value))
    return value if face is None else face(value)


def read_payload(value: int, objects: ObjectTable) -> object:
    """The payload of a concrete, available value as a Python value."""
    number = WORDS[(value + VALUE_KIND) >> 3] >> 8
    reader = READERS.get(number)
    if reader is not None:
        return reader(value)
    if number >= at.TYPE_OBJECT:
        return objects.get(WORDS[(value + VALUE_PAYLOAD) >> 3])
    return CHAIN


def encode(type_text: str, value: object, objects: ObjectTable) -> tuple[int, int, int]:
    """A Python value as payload type and two words; an object's handle belongs to the caller, and
    a tensor's address to the tensor.

    Raises:
        PayloadError: if `value` does not fit a scalar type.
    """
    if type_text in SCALAR_TYPES:
        first, second = encode_scalar(type_text, value)
        return SCALAR_TYPES[type_text], signed(first), signed(second)
    if value is CHAIN:
        return at.TYPE_CHAIN, 0, 0
    if (encoder := ENCODERS.get(type(value))) is not None:
        number, encode_object = encoder
        return number, encode_object(value), 0
    return at.TYPE_OBJECT, objects.add(value), 0


def read_as(word: str, value: int) -> object:
    """The bits of a scalar payload as type `word`, whatever type wrote them."""
    return READERS[SCALAR_TYPES[word]](value)


def shown(payload: object) -> str:
    """The `repr` of a payload; an object of a user may have one that fails, or never ends."""
    try:
        return repr(payload)
    except Exception:  # noqa: BLE001
        return f"<{type(payload).__name__} without a repr>"
