"""Conversions between Python objects and payloads of AsyncValues in native memory.

A payload is one or two words.  The value's header has the payload's type, a small number
(`layouts.TYPE_*`).  A number is stored as its bits, a chain has no data, and all other objects are
stored as handles (`ObjectTable`).  This module also has the base classes of objects whose slots
native code reads.
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
    """Handles for Python objects.  The owner of a handle releases it once.

    Any thread that holds the GIL may use the table.
    """

    def __init__(
        self, function: Callable[[str], Callable[..., Any]], count: Callable[[], int]
    ) -> None:
        """Make a table.

        `function` looks up a function of `native.python.python_entries` by name.  `count` returns
        the number of existing handles.
        """
        self.add: Callable[[object], int] = function("object_add")
        """Returns a new handle for an object."""
        self.get: Callable[[int], Any] = function("object_get")
        """Returns the object of a handle."""
        self.release: Callable[[int], Any] = function("object_take")
        """Releases a handle; returns the handle's object."""
        self._count = count

    def __len__(self) -> int:
        return self._count()


class NoObject:
    """The base of classes whose instances are not values when a kernel returns them."""

    __slots__ = ()


@final
class Chain(NoObject):
    """The value of a `!tfrt.chain`.

    A chain only says that an effect has happened.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "CHAIN"

    def __reduce__(self) -> str:
        """Make each copy the same object; in another process, a copy is that process's `CHAIN`."""
        return "CHAIN"


CHAIN: Final = Chain()


class HostTensor:
    """The base class of all tensors in programs, wherever their elements are stored."""

    __slots__ = ()


class NativeTensor(NoObject, HostTensor):
    """The base class of tensors that native kernels can use.

    Native code (`native.python.python_entries`) reads `_handle`, which is None or an object with
    the `address` of the native tensor.
    """

    __slots__ = ("_handle",)


class NativeValue(NoObject):
    """The base class of AsyncValue.

    Native code (`native.python.python_runs`) reads `_address`: the address of the native value, or
    0 while the object is being destroyed.
    """

    __slots__ = ("_address",)
    _address: int


class Run:
    """The base class of runs.  Native code (`native.python`) sets the attributes."""

    __slots__ = ("address", "caller", "words")
    words: bytes
    """The run's native words (a request), which live as long as the run."""
    address: int
    caller: Context
    """The contextvars context of the call that started the run, if the run carries one."""


RUN: ContextVar[bytes | None] = ContextVar("RUN", default=None)
"""The words of the run on whose behalf the current code runs.

A kernel runs on behalf of its own run, and so does a task or thread that a kernel starts.  The
words do not keep the run alive.  While they exist, no other run's words have the same address.
"""


address_of_words: Callable[[bytes], int] = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(
    ("PyBytes_AsString", ctypes.pythonapi)
)
"""Returns the address of a run's words.  A `ctypes.cast` would take six times as long."""


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
"""The payload types of scalars, keyed by type word."""

INTEGER_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
UNSIGNED_BITS = {"ui8": 8, "ui16": 16, "ui32": 32, "ui64": 64}


def bits_of_f64(number: float) -> int:
    """Return the bits of a double as a word."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def bits_of_f32(number: float) -> int:
    """Return the bits of a number rounded to 32 bits, as a word whose upper half is 0."""
    try:
        packed = struct.pack("<f", number)
    except OverflowError:  # struct rejects numbers that C rounds to infinity
        packed = struct.pack("<f", float("inf") if number > 0 else float("-inf"))
    return int(struct.unpack("<I", packed)[0])


def bits_of_short(dtype: DType, number: float) -> int:
    """Return the bits of a number rounded to a 16-bit float, as a word whose other bits are 0."""
    return int.from_bytes(pack(dtype, (number,)), "little")


_TOO_LARGE = {
    # Halfway between the largest finite number and the next power of 2; a tie rounds up.
    "f16": 2.0**16 - 2.0**4,
    "bf16": 2.0**128 - 2.0**119,
    "f32": 2.0**128 - 2.0**103,
    "f64": math.inf,
}
"""The smallest number that rounds to infinity, keyed by type word."""


_BITS_OF: dict[str, Callable[[float], int]] = {
    "f16": partial(bits_of_short, DType.F16),
    "bf16": partial(bits_of_short, DType.BF16),
    "f32": bits_of_f32,
    "f64": bits_of_f64,
}


def _short(dtype: DType) -> Callable[[int], object]:
    """Return a function that reads a 16-bit float."""
    first = VALUE_PAYLOAD >> 3
    return lambda value: unpack(
        dtype, (WORDS[(value >> 3) + first] & 0xFFFF).to_bytes(2, "little")
    )[0]


class PayloadError(TypeError):
    """A Python value does not fit the type that a program specifies; the message names both."""


def encode_integer(word: str, number: object) -> int:
    """Encode an integer of type `word` as a payload word.

    Raises:
        PayloadError: if `number` is not an integer or is out of range.
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
    # Payload words are signed, even if the type is not.
    return (number + 2**63) % 2**64 - 2**63


def written(number: int) -> str:
    """Format an integer for a message, without its digits if there are many.

    Python refuses to format an integer with thousands of digits.
    """
    bits = number.bit_length()
    return str(number) if bits <= 128 else f"an integer of {bits} bits"


def as_index(word: str, number: object) -> int:
    """Return the Python integer for a numpy integer or a similar object.

    `word` is the expected type.

    Raises:
        PayloadError: if the object is not an integer.
    """
    if not has_dimensions(number):
        if str(getattr(number, "dtype", "")) == "bool":  # numpy's bool has no __index__
            return bool(number)
        # A class of numbers has `__index__`, too, but is not a number.
        with contextlib.suppress(TypeError):
            return operator.index(number)  # type: ignore[arg-type]
    raise PayloadError(f"expected {word}, found {type(number).__name__}")


def has_dimensions(value: object) -> bool:
    """Return whether a value is an array, not a single number."""
    count = getattr(value, "ndim", 0)
    return isinstance(count, int) and count != 0  # a dask.delayed has any attribute


def encode_scalar(word: str, number: object) -> tuple[int, int]:
    """Encode a scalar of type `word` as two payload words.

    Raises:
        PayloadError: if the value is of another kind or is out of range.
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
        # An array has `__float__`, too, but is a number only if it has no dimensions. The same is
        # true of numpy's complex numbers and strings, which are not numbers of this type.
        if (
            not hasattr(number, "__float__")
            or has_dimensions(number)
            or getattr(getattr(number, "dtype", None), "kind", "f") in ("c", "S", "U")
        ):
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
"""Functions that read the payload of the value at an address, keyed by payload type."""


ENCODERS: dict[type, tuple[int, Callable[[Any], int]]] = {}
"""For each class with its own payload type: that type, and an encoder.

The encoder returns the payload word, which is valid while the object lives.
"""


FACES: dict[type, Callable[[Any], object]] = {}
"""Functions that convert the runtime's objects to the objects that users see, keyed by class."""


def as_python(value: object) -> object:
    """Convert a payload to the object that users see.

    For example, a tensor becomes a read-only numpy array.
    """
    face = FACES.get(type(value))
    return value if face is None else face(value)


def read_payload(value: int, objects: ObjectTable) -> object:
    """Return the payload of a concrete, available value as a Python value."""
    number = WORDS[(value + VALUE_KIND) >> 3] >> 8
    reader = READERS.get(number)
    if reader is not None:
        return reader(value)
    if number >= at.TYPE_OBJECT:
        return objects.get(WORDS[(value + VALUE_PAYLOAD) >> 3])
    return CHAIN


def encode(type_text: str, value: object, objects: ObjectTable) -> tuple[int, int, int]:
    """Encode a Python value as a payload type and two words.

    If the payload is an object, the caller owns the returned handle.  If it is a tensor, the
    returned address is valid while the tensor lives.

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
    """Read a scalar payload as type `word`, even if it was written as another type."""
    return READERS[SCALAR_TYPES[word]](value)


def shown(payload: object) -> str:
    """Return the `repr` of a payload, or a substitute if a user's `repr` fails."""
    try:
        return repr(payload)
    except Exception:  # noqa: BLE001
        return f"<{type(payload).__name__} without a repr>"
