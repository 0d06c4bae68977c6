"""Attributes of host programs that MLIR's builtin dialect does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, NoneAttr
from xdsl.ir import BuiltinAttribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.printer import Printer

DYNAMIC = -1
"""A dimension that is not known, as BEF files write it; `?` in text."""

_MAX_DIGITS = 18
"""All numbers of so many digits are 64-bit integers."""
_SHAPE = re.compile(r"\s*(?:(\*)|((?:[0-9]+|\?)(?:\s*x\s*(?:[0-9]+|\?))*))?\s*")


@irdl_attr_definition
class ShapeAttr(ParametrizedAttribute, BuiltinAttribute):
    """`#corert.shape<2x?>`, or `#corert.shape<*>` of unknown rank."""

    name = "corert.shape"

    sizes: ArrayAttr[IntAttr] | NoneAttr

    @staticmethod
    def of(dimensions: Sequence[int] | None) -> ShapeAttr:
        """The shape with these dimensions, DYNAMIC where unknown; None is the unknown rank."""
        if dimensions is None:
            return ShapeAttr(NoneAttr())
        return ShapeAttr(ArrayAttr(IntAttr(dimension) for dimension in dimensions))

    @staticmethod
    def read(body: str) -> ShapeAttr:
        """The shape between `<` and `>`.

        Raises:
            ValueError: if `body` is none, or has a size that is no 64-bit integer.
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
        """The dimensions, DYNAMIC where unknown; None if not even the rank is known."""
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
