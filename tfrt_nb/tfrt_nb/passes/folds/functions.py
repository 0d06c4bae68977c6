"""Mathematical functions of constants.

Computed in double precision and rounded to the type, as a correct library function does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Attribute, Operation

from tfrt_nb.passes.folds.floats import float_of
from tfrt_nb.passes.folds.integers import number_of, unsigned
from tfrt_nb.passes.folds.rounding import float_constant
from tfrt_nb.passes.greedy.constants import integer, width_of
from tfrt_nb.passes.greedy.driver import Folded, Folder

Constants = Sequence[Attribute | None]


def _rounded_half_away(number: float) -> float:
    return math.copysign(math.floor(abs(number) + 0.5), number)


def _same_sign(compute: Callable[[float], float]) -> Callable[[float], float]:
    """Zero keeps its sign, and what is not finite stays what it is."""
    return lambda x: math.copysign(float(compute(x)), x) if math.isfinite(x) else x


_UNARY: dict[str, Callable[[float], float]] = {
    "acos": math.acos,
    "acosh": math.acosh,
    "asin": math.asin,
    "asinh": math.asinh,
    "atan": math.atan,
    "atanh": math.atanh,
    "cbrt": lambda x: math.copysign(math.pow(abs(x), 1 / 3), x),
    "cos": math.cos,
    "cosh": math.cosh,
    "erf": math.erf,
    "exp": math.exp,
    "exp2": lambda x: math.pow(2.0, x),
    "expm1": math.expm1,
    "log": math.log,
    "log10": math.log10,
    "log1p": math.log1p,
    "log2": math.log2,
    "sin": math.sin,
    "sinh": math.sinh,
    "sqrt": math.sqrt,
    "tan": math.tan,
    "tanh": math.tanh,
}
"""Of numbers in `f32` and `f64` only."""
_EXACT: dict[str, Callable[[float], float]] = {
    "absf": abs,
    "ceil": _same_sign(math.ceil),
    "floor": _same_sign(math.floor),
    "round": _same_sign(_rounded_half_away),
    "roundeven": _same_sign(round),
    "trunc": _same_sign(math.trunc),
}
_OF_SINGLES = (Float32Type, Float64Type)


def _unary(compute: Callable[[float], float], types: tuple[type[Attribute], ...]) -> Folder:
    def fold(op: Operation, constants: Constants) -> Folded:
        [number], type_ = map(float_of, constants), op.results[0].type
        if number is None or not isinstance(type_, types):
            return None
        try:
            return [float_constant(compute(number), type_)]
        except (ValueError, OverflowError):
            return None

    return fold


def _pair(compute: Callable[[float, float], float]) -> Folder:
    def fold(op: Operation, constants: Constants) -> Folded:
        left, right = map(float_of, constants)
        type_ = op.results[0].type
        if left is None or right is None or not isinstance(type_, _OF_SINGLES):
            return None
        try:
            return [float_constant(compute(left, right), type_)]
        except (ValueError, OverflowError):
            return None

    return fold


def _of_bits(compute: Callable[[int, int], int]) -> Folder:
    def fold(op: Operation, constants: Constants) -> Folded:
        number, type_ = number_of(constants[0]), op.results[0].type
        if number is None:
            return None
        width = width_of(type_)
        return [integer(compute(unsigned(number, width), width), type_)]

    return fold


def _trailing_zeros(bits: int, width: int) -> int:
    return (bits & -bits).bit_length() - 1 if bits else width


def _absi(op: Operation, constants: Constants) -> Folded:
    number = number_of(constants[0])
    return None if number is None else [integer(abs(number), op.results[0].type)]


FOLDERS: dict[str, Folder] = {
    **{f"math.{name}": _unary(compute, _OF_SINGLES) for name, compute in _UNARY.items()},
    **{f"math.{name}": _unary(compute, _OF_SINGLES) for name, compute in _EXACT.items()},
    "math.atan2": _pair(math.atan2),
    "math.copysign": _pair(math.copysign),
    "math.powf": _pair(math.pow),
    "math.absi": _absi,
    "math.ctlz": _of_bits(lambda bits, width: width - bits.bit_length()),
    "math.ctpop": _of_bits(lambda bits, width: bits.bit_count()),
    "math.cttz": _of_bits(_trailing_zeros),
}
