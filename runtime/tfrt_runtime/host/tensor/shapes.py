"""Fully or partially known shapes, and element types.

An `ElementType` describes the elements of a tensor: their type's number in BEF, its names in
programs and in printed tensors, and the numpy type that stores them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrt_runtime.bef.records import DType
from tfrt_runtime.texts import float_text

UNKNOWN_SIZE: Final = -1
MAXIMUM_COUNT: Final = 2**63 - 1
"""The largest size or element count.

Sizes and counts are signed 64-bit integers in BEF and in kernels' signatures.
"""


@dataclass(frozen=True, slots=True)
class TensorShape:
    """The sizes of a tensor, outermost first.  `element_count` is the product of the sizes.

    A shape need not belong to a tensor, so its element count may exceed memory or an i64.

    Raises:
        ValueError: if a size is negative.
    """

    sizes: tuple[int, ...]
    element_count: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.sizes and min(self.sizes) < 0:
            raise ValueError(f"negative size in shape {self}")
        object.__setattr__(self, "element_count", prod(self.sizes))

    @property
    def rank(self) -> int:
        """How many sizes the shape has."""
        return len(self.sizes)

    def __str__(self) -> str:
        return sizes_text(self.sizes)


@lru_cache(maxsize=1024)
def known_shape(sizes: tuple[int, ...]) -> TensorShape:
    """Return the `TensorShape` with these sizes, from a cache."""
    return TensorShape(sizes)


@dataclass(frozen=True, slots=True)
class PartialTensorShape:
    """A shape in which sizes may be unknown (-1).  `sizes` is None if the rank is unknown.

    Raises:
        ValueError: if a size is less than -1.
    """

    sizes: tuple[int, ...] | None

    def __post_init__(self) -> None:
        if self.sizes and min(self.sizes) < UNKNOWN_SIZE:
            raise ValueError(f"negative size in shape {self}")

    def to_shape(self) -> TensorShape:
        """Return the shape as a fully known shape.

        Raises:
            ValueError: if a part of the shape is unknown; the message names the unknown parts.
        """
        if self.sizes is None:
            raise ValueError("Unknown rank")
        if unknown := [i for i, size in enumerate(self.sizes) if size == UNKNOWN_SIZE]:
            raise ValueError(f"Unknown dimensions at following indices = {sizes_text(unknown)}")
        return TensorShape(self.sizes)

    def __str__(self) -> str:
        return "Unknown rank" if self.sizes is None else sizes_text(self.sizes)


def sizes_text(sizes: Iterable[int]) -> str:
    """Return the sizes as text, such as `[2, 3]`."""
    return f"[{', '.join(map(str, sizes))}]"


Element = bool | int | float | complex

# An array whose element type is known only when the program runs.
AnyArray = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ElementType:
    """A type that a tensor's elements may have, and its names.

    `word` is its name in MLIR types and in kernel names (`ui8`, `bool`).  `printed` is its name in
    a printed tensor (`u8`, `i1`).
    """

    dtype: DType
    word: str
    printed: str
    storage: np.dtype[Any]
    code: str
    """The type's name in numpy's array interface."""

    @property
    def size(self) -> int:
        """The size of an element in bytes."""
        return self.storage.itemsize

    @property
    def is_arithmetic(self) -> bool:
        """Whether numpy can calculate with the type.

        numpy cannot calculate with bf16, whose elements are stored as raw 16-bit integers.
        """
        return self.dtype is not DType.BF16

    def __str__(self) -> str:
        return self.printed


def _element_types(
    rows: Iterable[tuple[DType, str, str, type[np.generic]]],
) -> dict[DType, ElementType]:
    return {
        dtype: ElementType(dtype, word, printed, np.dtype(scalar), np.dtype(scalar).str)
        for dtype, word, printed, scalar in rows
    }


ELEMENT_TYPES: Final = _element_types(
    [
        (DType.UI8, "ui8", "u8", np.uint8),
        (DType.UI16, "ui16", "u16", np.uint16),
        (DType.UI32, "ui32", "u32", np.uint32),
        (DType.UI64, "ui64", "u64", np.uint64),
        (DType.I1, "bool", "i1", np.bool_),
        (DType.I8, "i8", "i8", np.int8),
        (DType.I16, "i16", "i16", np.int16),
        (DType.I32, "i32", "i32", np.int32),
        (DType.I64, "i64", "i64", np.int64),
        (DType.F16, "f16", "f16", np.float16),
        (DType.BF16, "bf16", "bf16", np.uint16),
        (DType.F32, "f32", "f32", np.float32),
        (DType.F64, "f64", "f64", np.float64),
        (DType.COMPLEX64, "complex64", "complex64", np.complex64),
        (DType.COMPLEX128, "complex128", "complex128", np.complex128),
    ]
)

I32: Final = ELEMENT_TYPES[DType.I32]
I64: Final = ELEMENT_TYPES[DType.I64]
F32: Final = ELEMENT_TYPES[DType.F32]

_BY_STORAGE: Final = {
    element.storage: element for element in ELEMENT_TYPES.values() if element.is_arithmetic
}


def array_of_elements(dtype: DType, sizes: Sequence[int], data: bytes | memoryview) -> AnyArray:
    """Return a read-only array over the elements of a dense attribute, row by row.

    Raises:
        ValueError: if tensors do not support such elements, or if the element count is wrong.
    """
    if dtype not in ELEMENT_TYPES:
        raise ValueError(f"a tensor cannot hold elements of type {dtype.name}")
    return np.frombuffer(data, ELEMENT_TYPES[dtype].storage).reshape(sizes)


def element_type_of(array: AnyArray) -> ElementType:
    """Return the element type of `array`.

    Raises:
        ValueError: if tensors do not support such elements, or if `array` is a masked array.
    """
    if hasattr(array, "mask"):
        raise ValueError(
            "a tensor cannot have a mask: fill the array, or pass it as an !tfrt.object"
        )
    try:
        return _BY_STORAGE[array.dtype.newbyteorder("=")]
    except (KeyError, TypeError):  # numpy's StringDType has no byte order
        raise ValueError(f"a tensor cannot hold elements of type {array.dtype}") from None


def element_text(value: Element) -> str:
    """Format an element as the reference tools do.

    Examples: `1`, `-1.250000e-01`, `INF`, `(1.000000e+00,nan)`.
    """
    match value:
        case float():
            return float_text(value)
        case complex():
            return f"({float_text(value.real)},{float_text(value.imag)})"
    return str(int(value))


def elements_text(element_type: ElementType, array: AnyArray) -> str:
    """Format the elements of `array`, row by row, separated by commas."""
    if element_type.dtype is DType.BF16:
        # A bfloat16 is the upper half of a float.
        array = (array.astype(np.uint32) << 16).view(np.float32)
    values: list[Element] = array.ravel().tolist()
    return ", ".join(map(element_text, values))
