"""Attributes as MLIR prints them: what the printers of host programs and of compiled code have in common."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
)
from xdsl.ir import Attribute
from xdsl.printer import Printer

from tfrt_nb.dialects.float_text import float_text
from tfrt_nb.dialects.literals import F64, I64


@dataclass(eq=False, repr=False)
class AttributePrinter(Printer):
    """xDSL's printer with MLIR's numbers, and arrays without the types that go without saying."""

    def print_string_literal(self, string: str) -> None:
        self.print_bytes_literal(string.encode("utf-8", "surrogateescape"))

    def print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, ArrayAttr):
            with self.in_square_brackets():
                self.print_list(attribute, self._print_element)
        elif isinstance(attribute, DenseIntOrFPElementsAttr) and _is_misprinted(attribute):
            self.print_string(f'dense<"0x{attribute.data.data.hex().upper()}"> : ')
            self.print_attribute(attribute.get_type())
        else:
            super().print_attribute(attribute)

    def _print_element(self, element: Attribute) -> None:
        """In an array, the default types i64 and f64 are not printed."""
        if isinstance(element, IntegerAttr | FloatAttr) and element.type in (I64, F64):
            element.print_without_type(self)
        else:
            self.print_attribute(element)

    def print_float(self, value: float, type: AnyFloat) -> None:
        self.print_string(float_text(value, type))


def is_uniform(elements: DenseIntOrFPElementsAttr) -> bool:
    """Whether all elements have the same bits."""
    data, count = elements.data.data, len(elements)
    return count > 0 and data == data[: len(data) // count] * count


def _is_misprinted(elements: DenseIntOrFPElementsAttr) -> bool:
    """xDSL prints one number for all elements that are equal, as -0.0 and 0.0 are."""
    is_float = isinstance(elements.get_element_type(), AnyFloat) and len(elements) > 0
    return is_float and not is_uniform(elements) and elements.is_splat()
