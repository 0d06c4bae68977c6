"""Buffers as MLIR's runner utilities print them.

    Unranked Memref base@ = 0x55d0c5f3a2c0 rank = 1 offset = 0 sizes = [3] strides = [1] data =
    [1,  2,  3]

A buffer comes as the address of 4 + 2 * `MAX_DIMENSIONS` words: rank, allocated address, address of the
elements, offset, then the sizes and the strides in elements, of which the first `rank` count.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfrt_runtime.bef import numbers
from tfrt_runtime.bef.encoding import DType
from tfrt_runtime.host.structs import words_at

MAX_DIMENSIONS = 8
"""A buffer whose rank its type does not say has up to so many."""


@dataclass(frozen=True, slots=True)
class BufferFunction:
    """A function that prints buffers with elements of a type.

    Those of another rank than `rank` it does not take, if that is not None; without `has_elements`, it
    prints only where the buffer is and its shape.
    """

    element: str
    rank: int | None = None
    has_elements: bool = True

    def text(self, address: int) -> str:
        """What is printed for the buffer that is described there."""
        words = words_at(address, 4 + 2 * MAX_DIMENSIONS)
        rank, _, elements, offset = words[:4]
        sizes, strides = words[4 : 4 + rank], words[4 + MAX_DIMENSIONS :][:rank]
        title = "Memref" if self.rank is not None else "Unranked Memref"
        head = (
            f"{title} base@ = {elements:#x} rank = {rank} offset = {offset} "
            f"sizes = {sizes} strides = {strides}"
        )
        if not self.has_elements:
            return f"{head}\n"
        size, element_text = _ELEMENTS[self.element]

        def text_at(index: int) -> str:
            return element_text(ctypes.string_at(elements + index * size, size))

        data = _nested(text_at, rank, offset, sizes, strides) if rank else f"[{text_at(offset)}]"
        return f"{head} data = \n{data}\n"


def _nested(
    text_at: Callable[[int], str],
    rank: int,
    offset: int,
    sizes: Sequence[int],
    strides: Sequence[int],
) -> str:
    """The elements in brackets, innermost dimensions in a line."""
    if not sizes:
        return text_at(offset)
    separator = ", " + "\n" * (len(sizes) > 1) + " " * (rank - len(sizes) + 1)
    inner = [
        _nested(text_at, rank, offset + i * strides[0], sizes[1:], strides[1:])
        for i in range(sizes[0])
    ]
    return f"[{separator.join(inner)}]"


def float_text(number: float) -> str:
    """The number as C's `%g` prints it."""
    if math.isnan(number):
        return "-nan" if math.copysign(1, number) < 0 else "nan"
    return f"{number:g}"


def _float(dtype: DType) -> Callable[[bytes], str]:
    return lambda data: float_text(numbers.unpack(dtype, data)[0])


def _integer(dtype: DType) -> Callable[[bytes], str]:
    return lambda data: str(numbers.unpack(dtype, data)[0])


def _character(data: bytes) -> str:
    """C++ prints bytes as characters."""
    return data.decode(errors="replace")


_ELEMENTS: dict[str, tuple[int, Callable[[bytes], str]]] = {
    "bf16": (2, _float(DType.BF16)),
    "f16": (2, _float(DType.F16)),
    "f32": (4, _float(DType.F32)),
    "f64": (8, _float(DType.F64)),
    "i8": (1, _character),
    "i16": (2, _integer(DType.I16)),
    "i32": (4, _integer(DType.I32)),
    "i64": (8, _integer(DType.I64)),
    "index": (8, _integer(DType.UI64)),
}
"""Bytes of an element, and their text."""

_WORDS = {element: "Ind" if element == "index" else element.upper() for element in _ELEMENTS}
_WITH_SHAPES = ("f32", "f64", "i8", "i32", "i64", "index")

BUFFER_FUNCTIONS: dict[str, BufferFunction] = {
    **{f"printMemref{word}": BufferFunction(element) for element, word in _WORDS.items()},
    # So they were called until 2022.
    **{f"print_memref_{word.lower()}": BufferFunction(e) for e, word in _WORDS.items()},
    **{
        f"printMemrefShape{_WORDS[element]}": BufferFunction(element, has_elements=False)
        for element in _WITH_SHAPES
    },
    **{f"printMemref{rank}dF32": BufferFunction("f32", rank) for rank in range(5)},
    **{f"printMemref1d{_WORDS[element]}": BufferFunction(element, 1) for element in _WITH_SHAPES},
}
"""The functions by C name."""
