"""The types of native kernels, which users write as a string or as annotations.

An example of a string is `(f64, tensor<?x?xf32>) -> (i32, f64)`.
"""

from __future__ import annotations

import inspect
import re
import typing
from dataclasses import dataclass
from typing import Final

import numpy as np

from tfrt_runtime.diagnostics import refuse
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.host.tensor.dense import ELEMENT_NUMBERS
from tfrt_runtime.host.tensor.shapes import ELEMENT_TYPES, ElementType
from tfrt_runtime.kernels.users.annotations import TensorType, Type, shown
from tfrt_runtime.native.layouts import TYPE_OUT, TYPE_TENSOR_OF

# f16 and bf16 are excluded because no kernel calculates with them.
SCALARS: Final = {"i1": np.dtype(np.bool_)} | {
    element.word: element.storage
    for element in ELEMENT_TYPES.values()
    if element.word in SCALAR_TYPES.keys() - {"f16", "bf16"} and element.storage.kind in "iuf"
}

_ELEMENTS: Final = {
    "i1" if element.word == "bool" else element.word: element
    for element in ELEMENT_TYPES.values()
    # A bf16 is stored as a ui16, so its storage alone would not exclude it.
    if element.storage in SCALARS.values() and element.is_arithmetic
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number.  `word` is its type in programs, and `dtype` is the numpy type that stores it."""

    word: str
    dtype: np.dtype[np.generic]

    @property
    def payload(self) -> int:
        """The number by which `native.kernels.user_kernels` identifies the scalar's type."""
        return SCALAR_TYPES[self.word]

    @property
    def calculated(self) -> np.dtype[np.generic]:
        """The numpy type in which a native kernel calculates.

        Integers behave like Python's as long as 64 bits suffice.
        """
        is_whole = self.dtype.kind in "iu" and self.dtype != np.uint64
        return np.dtype(np.int64) if is_whole else self.dtype


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense tensor of a given rank, with dimensions of any size.

    A kernel receives the tensor as an array.  The kernel may write to the array only if the tensor
    is an out tensor.
    """

    element: ElementType
    rank: int
    is_out: bool = False
    word = "object"

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy type of an element."""
        return self.element.storage

    @property
    def payload(self) -> int:
        """The number by which `native.kernels.user_kernels` identifies the tensor's type."""
        number = ELEMENT_NUMBERS[self.element.dtype] + TYPE_TENSOR_OF * (self.rank + 1)
        return number + TYPE_OUT * self.is_out


@dataclass(frozen=True, slots=True)
class Signature:
    """The types that a native kernel takes and returns.

    A kernel that returns nothing gives programs a chain.
    """

    arguments: tuple[Scalar | Tensor, ...]
    results: tuple[Scalar | Tensor, ...]

    @property
    def returns_tensors(self) -> bool:
        """Whether the kernel returns arrays, which it allocates."""
        return any(isinstance(result, Tensor) for result in self.results)

    @property
    def annotations(self) -> tuple[object, ...]:
        """The argument types as annotations of a Python kernel."""
        return tuple(map(_annotation, self.arguments))

    def applied(self, signature: inspect.Signature) -> inspect.Signature:
        """Return the Python signature of the kernel's function, with these types as annotations."""
        types = iter(self.annotations)
        parameters = [
            p if p.kind is p.KEYWORD_ONLY else p.replace(annotation=next(types))
            for p in signature.parameters.values()
        ]
        results = tuple(map(_annotation, self.results))
        returned = tuple[results] if len(results) > 1 else results[0] if results else None  # type: ignore[valid-type]
        return signature.replace(parameters=parameters, return_annotation=returned)


def parse_signature(text: str) -> Signature:
    """Parse a native kernel's signature, such as `(i32, f32) -> i32`.

    Several result types, or none, are in parentheses: `(i32) -> (i32, f32)`, `(i32) -> ()`.  A
    tensor that the kernel writes has the type `out tensor<...>`.

    Raises:
        TfrtError: if the text has another form, or contains types that native kernels do not
            support.
    """
    match = re.fullmatch(r"\s*\((.*?)\)\s*->\s*(?:\((.*)\)|(.*?))\s*", text)
    if match is None:
        refuse(f"expected '(types) -> types', found '{text}'")
    results = match[2] if match[2] is not None else match[3]
    return Signature(
        tuple(_parsed(word) for word in _words(match[1])),
        tuple(_result(_parsed(word)) for word in _words(results)),
    )


def annotated_signature(name: str, signature: inspect.Signature) -> Signature:
    """Return the types in the annotations of kernel `name`.

    Raises:
        TfrtError: if a parameter has no type, or has a type that native kernels do not support.
    """
    parameters = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    returned = signature.return_annotation
    if returned is signature.empty:
        returned = None
    items = typing.get_args(returned) if typing.get_origin(returned) is tuple else (returned,)
    if len(items) == 1 and items[0] is not returned:
        refuse(
            f"the result of native kernel '{name}' cannot be {shown(returned)}: return the value itself"  # noqa: E501
        )
    return Signature(
        tuple(
            _annotated(p.annotation, f"parameter '{p.name}' of native kernel '{name}'")
            for p in parameters
        ),
        ()
        if returned is None
        else tuple(
            _result(_annotated(item, f"the result of native kernel '{name}'")) for item in items
        ),
    )


_PLAIN: Final[dict[object, str]] = {bool: "i1", int: "i64", float: "f64"}


def _annotated(annotation: object, what: str) -> Scalar | Tensor:
    if isinstance(annotation, TensorType):
        return _tensor(annotation.element.name, annotation.rank, is_out=annotation.is_out)
    if isinstance(annotation, Type):
        return _scalar(annotation.name)
    if isinstance(annotation, type) and annotation in _PLAIN:
        return _scalar(_PLAIN[annotation])
    if annotation is inspect.Parameter.empty:
        refuse(f"{what} needs a type, such as tfrt.f64")
    hint = ": give the element type and rank, as in tfrt.tensor[tfrt.f64, 1]"
    is_array = (typing.get_origin(annotation) or annotation) is np.ndarray
    refuse(f"{what} cannot be {shown(annotation)}{hint if is_array else ''}")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")] if text.strip() else []


def _parsed(word: str) -> Scalar | Tensor:
    match = re.fullmatch(r"(out\s+)?tensor<((?:\?x)*)([a-z]\w*)>", word)
    if match is None:
        return _scalar(word)
    return _tensor(match[3], match[2].count("?"), is_out=match[1] is not None)


def _result(found: Scalar | Tensor) -> Scalar | Tensor:
    if isinstance(found, Tensor) and found.is_out:
        refuse("'out' is for tensors that a native kernel takes and writes, not for results")
    return found


def _tensor(word: str, rank: int, *, is_out: bool) -> Tensor:
    if word not in _ELEMENTS:
        refuse(f"a native kernel cannot have a tensor of '{word}'")
    return Tensor(_ELEMENTS[word], rank, is_out)


def _scalar(word: str) -> Scalar:
    if word not in SCALARS:
        expected = ", ".join(SCALARS)
        refuse(f"a native kernel has numbers ({expected}) and tensor<?x..xT>, found '{word}'")
    return Scalar(word, SCALARS[word])


def _annotation(argument: Scalar | Tensor) -> object:
    if isinstance(argument, Scalar):
        return Type(argument.word, _no_cast)
    return TensorType(Type(argument.element.word, _no_cast), argument.rank, is_out=argument.is_out)


def _no_cast(value: object, _: str) -> object:
    return value
