"""The types of compiled code's buffers, `memref<?x4xf32>`, as tensors fill them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import ELEMENT_TYPES, ElementType

_WORDS = {"i1": "bool", "index": "i64"}
_ELEMENT_TYPES = {element.word: element for element in ELEMENT_TYPES.values()}


@dataclass(frozen=True, slots=True)
class BufferType:
    """A buffer's sizes, None for one that the type leaves open, and its elements."""

    sizes: tuple[int | None, ...]
    element_type: ElementType

    def fits(self, tensor: DenseHostTensor) -> bool:
        """Whether a tensor is of the type."""
        found = tensor.shape.sizes
        return (
            tensor.element_type == self.element_type
            and len(found) == len(self.sizes)
            and all(w in (None, size) for size, w in zip(found, self.sizes, strict=True))
        )


@functools.lru_cache(256)
def buffer_type(text: str) -> BufferType:
    """The type between the brackets of `memref<...>`: sizes, then the elements."""
    match = re.fullmatch(r"((?:(?:\?|\d+)x)*)(\w+)", text)
    assert match is not None, text
    sizes = [None if size == "?" else int(size) for size in match[1].split("x")[:-1]]
    return BufferType(tuple(sizes), _ELEMENT_TYPES[_WORDS.get(match[2], match[2])])
