"""Shapes: known ones, and ones that are known in part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Final

UNKNOWN_SIZE: Final = -1
MAXIMUM_COUNT: Final = 2**63 - 1
"""Sizes and numbers of elements are signed 64-bit integers in BEF and in every kernel's
signature.
"""


@dataclass(frozen=True, slots=True)
class TensorShape:
    """The sizes of a tensor, outermost first.  `element_count` is their product.

    A shape is a value of its own: it may have more elements than any memory, or than an i64 counts.

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
        """The number of sizes."""
        return len(self.sizes)

    def __str__(self) -> str:
        return sizes_text(self.sizes)


@lru_cache(maxsize=1024)
def known_shape(sizes: tuple[int, ...]) -> TensorShape:
    """The shape with these sizes; what `TensorShape` gives, and raises, without looking twice."""
    return TensorShape(sizes)


@dataclass(frozen=True, slots=True)
class PartialTensorShape:
    """Sizes of which some may be unknown (-1); `sizes` is None if not even the rank is known.

    Raises:
        ValueError: if a size is less than -1.
    """

    sizes: tuple[int, ...] | None

    def __post_init__(self) -> None:
        if self.sizes and min(self.sizes) < UNKNOWN_SIZE:
            raise ValueError(f"negative size in shape {self}")

    def to_shape(self) -> TensorShape:
        """The shape, if all of it is known.

        Raises:
            ValueError: if not; the message says what is missing.
        """
        if self.sizes is None:
            raise ValueError("Unknown rank")
        if unknown := [i for i, size in enumerate(self.sizes) if size == UNKNOWN_SIZE]:
            raise ValueError(f"Unknown dimensions at following indices = {sizes_text(unknown)}")
        return TensorShape(self.sizes)

    def __str__(self) -> str:
        return "Unknown rank" if self.sizes is None else sizes_text(self.sizes)


def sizes_text(sizes: Iterable[int]) -> str:
    """`[2, 3]`."""
    return f"[{', '.join(map(str, sizes))}]"
