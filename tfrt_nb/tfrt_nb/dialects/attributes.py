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
    def read(body: str) -> ShapeAttr | None:
        """The shape between `<` and `>`; None if `body` is not one."""
        match = _SHAPE.fullmatch(body)
        if match is None:
            return None
        if match[1]:
            return ShapeAttr.of(None)
        dimensions = match[2].split("x") if match[2] else []
        return ShapeAttr.of([DYNAMIC if "?" in size else int(size) for size in dimensions])

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
