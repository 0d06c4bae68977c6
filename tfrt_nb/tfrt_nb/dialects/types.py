"""The types of host programs, their words in the signature tables, and their own attribute.

To the compiler, all types of the host runtime are names: only its kernels know what a
`!tfrt.device` is. So a single attribute class, `HostType`, represents `!tfrt.chain`, `!t.tensor`,
`!test.atomic.i32` and every other type that is written `!dialect.name`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    StringAttr,
)
from xdsl.ir import Attribute, BuiltinAttribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.printer import Printer

from tfrt_nb.dialects.tables.signatures import HOST_TYPES


@irdl_attr_definition
class HostType(ParametrizedAttribute, BuiltinAttribute, TypeAttribute):
    """`!spelling`: a type that only kernels look into."""

    name = "tfrt.host_type"

    spelling: StringAttr

    def print_builtin(self, printer: Printer) -> None:
        printer.print_string("!" + self.spelling.data)


def host_type(spelling: str) -> HostType:
    """Return the type that is written `!spelling`."""
    return HostType(StringAttr(spelling))


_HOST = {word: host_type(spelling) for word, spelling in HOST_TYPES.items()}
CHAIN, STRING, DEVICE = _HOST["chain"], _HOST["string"], _HOST["device"]
TENSOR, HOST_BUFFER = _HOST["tensor"], _HOST["buffer"]
SHAPE, PARTIAL_SHAPE = _HOST["shape"], _HOST["partial_shape"]

I1 = IntegerType(1)
I32 = IntegerType(32)
I64 = IntegerType(64)


WORDS: dict[str, Attribute] = {
    **{f"i{width}": IntegerType(width) for width in (1, 8, 16, 32, 64)},
    **{f"ui{width}": IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64)},
    "index": IndexType(),
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": Float32Type(),
    "f64": Float64Type(),
    "complex64": ComplexType(Float32Type()),
    "complex128": ComplexType(Float64Type()),
    **_HOST,
}
"""The type that each signature word denotes. The word `any`, for every type, is not included."""


def description(word: str) -> str:
    """Return MLIR's description of a word: `32-bit signless integer`."""
    value_type = WORDS[word]
    match value_type:
        case IntegerType():
            sign = "unsigned" if value_type.signedness.data is Signedness.UNSIGNED else "signless"
            return f"{value_type.width.data}-bit {sign} integer"
        case HostType():
            return f"'{value_type}'"
    if word.startswith(("f", "bf")):
        return f"{'bfloat16' if word == 'bf16' else word[1:] + '-bit float'}"
    return f"'{value_type}'"


_CLOSED_DIALECTS = {
    "t": ("tensor", re.compile(r"tensor")),
    "ts": ("shape", re.compile(r"shape|partial_shape|fixed_rank_shape\.[0-9]+")),
}


def unknown_type_message(spelling: str) -> str | None:
    """Return why `!spelling` is not a valid type; None if it is valid.

    The dialects of tensors and shapes have a fixed set of types; all others accept any name.
    """
    dialect, _, mnemonic = spelling.partition(".")
    if dialect not in _CLOSED_DIALECTS:
        return None
    kind, known = _CLOSED_DIALECTS[dialect]
    return None if known.fullmatch(mnemonic) else f"unknown {kind} type: {mnemonic}"


DYNAMIC = -1
"""A dimension of unknown size, as BEF files write it; `?` in text."""

_MAX_DIGITS = 18
"""The number of decimal digits that always fit a 64-bit integer."""
_SHAPE = re.compile(r"\s*(?:(\*)|((?:[0-9]+|\?)(?:\s*x\s*(?:[0-9]+|\?))*))?\s*")


@irdl_attr_definition
class ShapeAttr(ParametrizedAttribute, BuiltinAttribute):
    """`#corert.shape<2x?>`, or `#corert.shape<*>` of unknown rank."""

    name = "corert.shape"

    sizes: ArrayAttr[IntAttr] | NoneAttr

    @staticmethod
    def of(dimensions: Sequence[int] | None) -> ShapeAttr:
        """Return the shape with these dimensions, DYNAMIC where unknown.

        `dimensions` is None if the rank is unknown.
        """
        if dimensions is None:
            return ShapeAttr(NoneAttr())
        return ShapeAttr(ArrayAttr(IntAttr(dimension) for dimension in dimensions))

    @staticmethod
    def read(body: str) -> ShapeAttr:
        """Parse the shape between `<` and `>`.

        Raises:
            ValueError: if `body` is not a shape, or has a size that is not a 64-bit integer.
        """
        match = _SHAPE.fullmatch(body)
        if match is None:
            raise ValueError("expected a shape like <2x?>, <> or <*>")
        if match[1]:
            return ShapeAttr.of(None)
        sizes = [size.strip() for size in match[2].split("x")] if match[2] else []
        if any(len(size) > _MAX_DIGITS for size in sizes):
            raise ValueError(f"a size of a shape has more than {_MAX_DIGITS} digits")
        return ShapeAttr.of([DYNAMIC if size == "?" else int(size) for size in sizes])

    @property
    def dimensions(self) -> tuple[int, ...] | None:
        """Return the dimensions, DYNAMIC where unknown; None if even the rank is unknown."""
        if isinstance(self.sizes, NoneAttr):
            return None
        return tuple(size.data for size in self.sizes)

    def print_builtin(self, printer: Printer) -> None:
        dimensions = self.dimensions
        if dimensions is None:
            body = "*"
        else:
            body = "x".join("?" if size == DYNAMIC else str(size) for size in dimensions)
        printer.print_string(f"#corert.shape<{body}>")
