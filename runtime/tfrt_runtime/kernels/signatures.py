"""Types of native kernels, as their users write them: `(f64, tensor<?x?xf32>) -> (i32, f64)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.host.tensor.element_types import ELEMENT_TYPES, ElementType
from tfrt_runtime.host.tensor.handles import ELEMENT_NUMBERS
from tfrt_runtime.native.user_kernels import TENSOR_OF

# f16 and bf16 are kept as their bits, with which nobody calculates.
SCALARS: Final = {"i1": np.dtype(np.bool_)} | {
    element.word: element.storage
    for element in ELEMENT_TYPES.values()
    if element.word in SCALAR_TYPES.keys() - {"f16", "bf16"} and element.storage.kind in "iuf"
}

_ELEMENTS: Final = {
    "i1" if element.word == "bool" else element.word: element
    for element in ELEMENT_TYPES.values()
    if element.storage in SCALARS.values() and element.is_arithmetic
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number.  `word` is its type, `dtype` how numpy holds it."""

    word: str
    dtype: np.dtype[np.generic]

    @property
    def payload(self) -> int:
        """What `native.user_kernels` calls it."""
        return SCALAR_TYPES[self.word]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense tensor of any sizes; a kernel sees it as an array that it may write."""

    element: ElementType
    rank: int

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """How numpy holds an element."""
        return self.element.storage

    @property
    def payload(self) -> int:
        """What `native.user_kernels` calls it."""
        return ELEMENT_NUMBERS[self.element.dtype] + TENSOR_OF * (self.rank + 1)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a native kernel takes and gives.  One that gives nothing gives a chain to programs."""

    arguments: tuple[Scalar | Tensor, ...]
    results: tuple[Scalar, ...]


def parse_signature(text: str) -> Signature:
    """Read `(types) -> type`, `(types) -> (types)` or `(types) -> ()`.

    Raises:
        TfrtError: if it is none of these, or has types that native kernels cannot have.
    """
    match = re.fullmatch(r"\s*\((.*?)\)\s*->\s*(?:\((.*)\)|(.*?))\s*", text)
    if match is None:
        raise TfrtError(error(f"expected '(types) -> types', found '{text}'"))
    results = match[2] if match[2] is not None else match[3]
    return Signature(
        tuple(_argument(word) for word in _words(match[1])),
        tuple(_scalar(word) for word in _words(results)),
    )


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")] if text.strip() else []


def _argument(word: str) -> Scalar | Tensor:
    match = re.fullmatch(r"tensor<((?:\?x)*)([a-z]\w*)>", word)
    if match is None:
        return _scalar(word)
    if match[2] not in _ELEMENTS:
        raise TfrtError(error(f"a native kernel cannot have a tensor of '{match[2]}'"))
    return Tensor(_ELEMENTS[match[2]], match[1].count("?"))


def _scalar(word: str) -> Scalar:
    if word not in SCALARS:
        expected = ", ".join(SCALARS)
        raise TfrtError(
            error(f"a native kernel has numbers ({expected}) and tensor<?x..xT>, found '{word}'")
        )
    return Scalar(word, SCALARS[word])
