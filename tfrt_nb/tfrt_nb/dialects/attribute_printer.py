"""Print attributes as MLIR does, both in host programs and in compiled code.

Floats match MLIR digit for digit. MLIR first tries six digits. If these do not determine the value,
it uses as many digits as the type needs. In both cases it calls LLVM's `APFloat::toString`, which
truncates surplus digits before it rounds. For example, six digits cannot represent the f32 7.99, so
MLIR prints 7.98999977. The code here takes the same steps as that function.
"""

from __future__ import annotations

import math
import struct

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
)
from xdsl.ir import Attribute
from xdsl.printer import Printer

from tfrt_nb.dialects.literals import F64
from tfrt_nb.dialects.types import I64
from tfrt_runtime.bef.wire import bytes_of


class AttributePrinter(Printer):
    """xDSL's printer with MLIR's number format, and without the default types of array elements."""

    def print_string_literal(self, string: str) -> None:
        # A string may contain bytes that are not UTF-8, which the parser decodes in this way.
        self.print_bytes_literal(bytes_of(string))

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
        """Print an array element, without its type if that is the default, i64 or f64."""
        if isinstance(element, IntegerAttr | FloatAttr) and element.type in (I64, F64):
            element.print_without_type(self)
        else:
            self.print_attribute(element)

    def print_float(self, value: float, type: AnyFloat) -> None:
        self.print_string(float_text(value, type))


def is_uniform(elements: DenseIntOrFPElementsAttr) -> bool:
    """Return whether all elements have the same bits."""
    data, count = elements.data.data, len(elements)
    return count > 0 and data == data[: len(data) // count] * count


def _is_misprinted(elements: DenseIntOrFPElementsAttr) -> bool:
    """Return whether xDSL would print one number even though the elements differ in their bits.

    This happens for elements that compare equal, such as -0.0 and 0.0.
    """
    is_float = isinstance(elements.get_element_type(), AnyFloat) and len(elements) > 0
    return is_float and not is_uniform(elements) and elements.is_splat()


_PRECISION_IN_BITS = {Float16Type: 11, BFloat16Type: 8, Float32Type: 24, Float64Type: 53}


def float_text(value: float, number_type: AnyFloat) -> str:
    """Return the text of a float.

    The text is `7.500000e+00` if six digits are enough. Otherwise it has enough digits to
    distinguish the value from its neighbors, or shows the value's bits.
    """
    if math.isfinite(value):
        short = _exponential(value, 6)
        if _rounded(float(short), number_type) == value:
            return short
        # This is LLVM's formula: 59/196 is slightly less than the number of digits in a bit.
        full = _plain(value, 2 + _PRECISION_IN_BITS.get(type(number_type), 53) * 59 // 196)
        # MLIR would read a number without a point as an integer, so the bits are written instead.
        if "." in full:
            return full
    pattern = int.from_bytes(number_type.pack((value,)), "little")
    return f"0x{pattern:X}"


def _rounded(value: float, number_type: AnyFloat) -> float:
    try:
        return float(number_type.unpack(number_type.pack((value,)), 1)[0])
    except (OverflowError, struct.error):
        return math.inf


def _sign(value: float) -> str:
    return "-" if math.copysign(1.0, value) < 0 else ""


def _exponential(value: float, precision: int) -> str:
    if value == 0:
        return f"{_sign(value)}0.{'0' * precision}e+00"
    digits, exponent = _decimal(value, precision)
    exponent += len(digits) - 1
    mantissa = f"{digits[0]}.{digits[1:]:0<{precision}}"
    return f"{_sign(value)}{mantissa}e{exponent:+03d}"


def _plain(value: float, precision: int) -> str:
    """Format a float without an exponent, or with an `E` if over three zeros would pad it."""
    digits, exponent = _decimal(value, precision)
    whole = len(digits) + exponent
    if exponent >= 0:
        if exponent > 3 or whole > precision:
            return _sign(value) + _scientific(digits, whole - 1)
        return _sign(value) + digits + "0" * exponent
    if whole > 0:
        return f"{_sign(value)}{digits[:whole]}.{digits[whole:]}"
    if 1 - whole > 3:
        return _sign(value) + _scientific(digits, whole - 1)
    return f"{_sign(value)}0.{'0' * -whole}{digits}"


def _scientific(digits: str, exponent: int) -> str:
    return f"{digits[0]}.{digits[1:] or '0'}E{exponent:+d}"


def _decimal(value: float, precision: int) -> tuple[str, int]:
    """Return the first digits of a float, and the exponent of the last digit.

    There are at most `precision` digits, without trailing zeros.
    """
    significand, denominator = abs(value).as_integer_ratio()
    exponent = 1 - denominator.bit_length()
    # The denominator is a power of two, and n / 2^k = n * 5^k / 10^k.
    significand *= 5**-exponent
    # 196/59 is slightly more than the number of bits in a digit.
    surplus = (significand.bit_length() - (precision * 196 + 58) // 59) * 59 // 196
    if surplus > 0:
        exponent += surplus
        significand //= 10**surplus
    digits, exponent = _without_trailing_zeros(str(significand), exponent)
    if len(digits) <= precision:
        return digits, exponent
    exponent += len(digits) - precision
    kept = int(digits[:precision]) + (digits[precision] >= "5")
    return _without_trailing_zeros(str(kept), exponent)


def _without_trailing_zeros(digits: str, exponent: int) -> tuple[str, int]:
    kept = digits.rstrip("0")
    return kept, exponent + len(digits) - len(kept)
