"""How elements are printed: as the reference's tools print them."""

from __future__ import annotations

from collections.abc import Iterable
from math import isinf, isnan

import numpy as np

from tfrt_runtime.bef.encoding import DType
from tfrt_runtime.host.tensor.element_types import AnyArray, ElementType

Element = bool | int | float | complex


def element_text(value: Element) -> str:
    """`1` for true, `-1.250000e-01`, `INF`, `(1.000000e+00,nan)`."""
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, complex):
        return f"({_float_text(value.real)},{_float_text(value.imag)})"
    return str(int(value))


def _float_text(value: float) -> str:
    if isnan(value):
        return "nan"
    if isinf(value):
        return "INF" if value > 0 else "-INF"
    return f"{value:e}"


def elements_text(element_type: ElementType, array: AnyArray) -> str:
    """The elements of `array`, row by row, between commas."""
    return ", ".join(map(element_text, python_values(element_type, array)))


def python_values(element_type: ElementType, array: AnyArray) -> Iterable[Element]:
    """The elements of `array` as Python numbers."""
    if element_type.dtype is DType.BF16:
        # A bfloat16 is the upper half of a float.
        array = (array.astype(np.uint32) << 16).view(np.float32)
    values: list[Element] = array.ravel().tolist()
    return values
