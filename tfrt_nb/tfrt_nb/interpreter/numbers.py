"""Translate operations on scalars to Python expressions.

Integers are signed numbers, and an `i1` is 0 or 1. Floats are rounded to their type after each
operation. If an operation is in the table of scalar operations (`tfrt_runtime.scalars`), the Python
operator or function there defines its result. The passes have inserted checks before operations
that may fail, so no operation here can fail. `math` operations call the C library, as machine code
does.
"""

from __future__ import annotations

import ctypes
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float64Type,
    FloatAttr,
    IntegerAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.interpreter.memory import is_float, rounding, to_single, width_of
from tfrt_nb.interpreter.source import FunctionSource
from tfrt_nb.jit.llvm_types import UnsupportedType
from tfrt_runtime.scalars import ARITHMETIC, Family, wrapped

Lowering = Callable[["FunctionSource", Any], None]
"""A function that writes the source of one operation."""
Expression = Callable[["FunctionSource", Any], str]
"""A function that returns an expression for an operation's only result."""

_OPERATORS = frozenset(["+", "-", "*", "&", "|", "^"])
_BITWISE = frozenset("&|^")
_INTEGER_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FIRST_UNSIGNED = 6
_FLOAT_PREDICATES = (
    *("False", "{0} == {1}", "{0} > {1}", "{0} >= {1}", "{0} < {1}", "{0} <= {1}"),
    *("({0} < {1} or {0} > {1})", "({0} == {0} and {1} == {1})"),
    *("not ({0} < {1} or {0} > {1})", "not {0} <= {1}", "not {0} < {1}", "not {0} >= {1}"),
    *("not {0} > {1}", "{0} != {1}", "({0} != {0} or {1} != {1})", "True"),
)
"""Expressions for float predicates in MLIR's order: ordered ones, then unordered ones."""


def _fitted(body: FunctionSource, expression: str, type_: Attribute) -> str:
    """Return an expression for a number that is wrapped or rounded to its type."""
    width = width_of(type_)
    if width == 1:
        return f"({expression}) & 1"
    if width:
        half = 1 << (width - 1)
        # Most numbers fit, and a comparison costs less than a mask.
        fits = f"{-half} <= (t := {expression}) < {half}"
        return f"t if {fits} else (t & {2 * half - 1} ^ {half}) - {half}"
    return f"{body.keep(round_)}({expression})" if (round_ := rounding(type_)) else expression


def _signed(body: FunctionSource, value: SSAValue) -> str:
    """Return an expression for an operand as a signed number, in which a true `i1` is -1."""
    name = body.name(value)
    return f"-{name}" if width_of(value.type) == 1 else name


def _unsigned(body: FunctionSource, value: SSAValue) -> str:
    name = body.name(value)
    return name if width_of(value.type) == 1 else f"({name} & {(1 << width_of(value.type)) - 1})"


def _of_table(family: Family, name: str) -> Expression:
    """Return the expression for a row of the table. `name` selects one of several results."""
    is_operator = family.python in _OPERATORS

    def write(body: FunctionSource, op: Operation) -> str:
        type_ = op.results[0].type
        if is_operator:
            # The lowest bit of these results is the same whether a true `i1` counts as 1 or as -1.
            left, right = map(body.name, op.operands)
            expression = f"{left} {family.python} {right}"
            return expression if family.python in _BITWISE else _fitted(body, expression, type_)
        operands = ", ".join(_signed(body, operand) for operand in op.operands)
        call = f"{body.keep(family.compute)}({operands})"
        if len(family.results) > 1:
            call += f"[{[*family.arith].index(name)}]"
        return _fitted(body, call, type_)

    return write


def _with(function: Callable[..., Any], read: Callable[..., str] = _signed) -> Expression:
    """Return a call of a function whose result is wrapped or rounded to the result type."""

    def write(body: FunctionSource, op: Operation) -> str:
        operands = ", ".join(read(body, operand) for operand in op.operands)
        return _fitted(body, f"{body.keep(function)}({operands})", op.results[0].type)

    return write


def _bits(function: Callable[[int, int], int]) -> Expression:
    """Return a call of a function on an unsigned operand and its width."""

    def write(body: FunctionSource, op: Operation) -> str:
        [operand] = op.operands
        call = f"{body.keep(function)}({_unsigned(body, operand)}, {width_of(operand.type)})"
        return _fitted(body, call, operand.type)

    return write


def _compare(body: FunctionSource, op: Operation) -> str:
    if isinstance(op, arith.CmpfOp):
        left, right = body.name(op.lhs), body.name(op.rhs)
        return _FLOAT_PREDICATES[op.predicate.value.data].format(left, right)
    assert isinstance(op, arith.CmpiOp)
    predicate = op.predicate.value.data
    read = _unsigned if predicate >= _FIRST_UNSIGNED else _signed
    return f"{read(body, op.lhs)} {_INTEGER_PREDICATES[predicate]} {read(body, op.rhs)}"


def _select(body: FunctionSource, op: Operation) -> str:
    condition, then, otherwise = map(body.name, op.operands)
    return f"{then} if {condition} else {otherwise}"


def _resized(read: Callable[..., str]) -> Expression:
    def write(body: FunctionSource, op: Operation) -> str:
        [operand], [result] = op.operands, op.results
        if width_of(operand.type) == width_of(result.type):
            return body.name(operand)
        return _fitted(body, read(body, operand), result.type)

    return write


def _to_float(read: Callable[..., str]) -> Expression:
    def write(body: FunctionSource, op: Operation) -> str:
        type_ = op.results[0].type
        convert = _as_double if isinstance(type_, Float64Type) else _rounded_once
        return _fitted(body, f"{body.keep(convert)}({read(body, op.operands[0])})", type_)

    return write


_EXACT = 1 << 53


def _rounded_once(number: int) -> float:
    """Return a double that a narrower type rounds to the number that is nearest to `number`.

    The double keeps as many bits as it has, and sets the last one if any other bit is set (rounding
    to odd), so only the conversion to the narrower type rounds.
    """
    excess = max(0, abs(number).bit_length() - 53)
    kept = abs(number) >> excess << excess | (abs(number) & (1 << excess) - 1 != 0) << excess
    return math.copysign(_as_double(kept), number)


def _as_double(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


def _to_integer(body: FunctionSource, op: Operation) -> str:
    """Truncate a float toward zero.

    A number that does not fit becomes the nearest number that fits, and NaN becomes 0.
    """
    width, is_signed = width_of(op.results[0].type), op.name == "arith.fptosi"
    low = -(1 << width - 1) if is_signed else 0
    high = low + (1 << width) - 1
    cut = f"{body.keep(_cut)}({body.name(op.operands[0])}, {low}, {high})"
    return _fitted(body, cut, op.results[0].type)


def _cut(x: float, low: int, high: int) -> int:
    return 0 if math.isnan(x) else low if x <= low else high if x >= high else int(x)


def _divided(a: float, b: float) -> float:
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _remainder(a: float, b: float) -> float:
    try:
        return math.fmod(a, b)
    except ValueError:  # raised for an infinite result or a division by 0
        return math.nan


def _divided_up(a: int, b: int) -> int:
    return -(-a // b)


def _shifted_right(a: int, b: int, width: int) -> int:
    return a >> min(b, width)


def _of_width(
    function: Callable[[int, int, int], int],
    read: Callable[..., str],
    read_right: Callable[..., str] = _unsigned,
) -> Expression:
    """Return an operation on two numbers that also needs their width."""

    def write(body: FunctionSource, op: Operation) -> str:
        left, right = op.operands
        operands = f"{read(body, left)}, {read_right(body, right)}, {width_of(left.type)}"
        return _fitted(body, f"{body.keep(function)}({operands})", left.type)

    return write


def _least(a: float, b: float) -> float:
    """Return the smaller number, or NaN if either number is NaN.

    -0.0 is smaller than 0.0.
    """
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b == 0:
        return a if math.copysign(1.0, a) < 0 else b
    return min(a, b)


FLOAT_CHOICES = {
    "maximumf": lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else -_least(-a, -b),
    "minimumf": _least,
    "maxnumf": lambda a, b: b if math.isnan(a) else a if math.isnan(b) else max(a, b),
    "minnumf": lambda a, b: b if math.isnan(a) else a if math.isnan(b) else min(a, b),
}
"""The operations that return one of two floats, by name."""


def _power(base: int, exponent: int, width: int) -> int:
    """Raise to an integer power. For a negative exponent, the result is rounded toward zero."""
    if exponent >= 0:
        return pow(base, exponent, 1 << width)
    return 0 if base not in (1, -1) else base if exponent & 1 else 1


def _even(x: float) -> float:
    """Round to the nearest integer, ties to even."""
    return math.copysign(float(round(x)), x) if abs(x) < _EXACT else x


_EQUAL_NAMES = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf exp exp2 expm1 floor "
    "fma log log10 log1p log2 round sin sinh sqrt tan tanh trunc"
)
_LIBRARY = {
    **{f"math.{name}": name for name in _EQUAL_NAMES.split()},
    "math.absf": "fabs",
    "math.powf": "pow",
}
"""The C library's functions that implement `math` operations."""


@functools.cache
def _library_function(name: str, *, is_double: bool, operands: int) -> Callable[..., float]:
    """Return the C library's function for doubles or for singles."""
    libraries = (ctypes.CDLL(one) for one in (None, "libm.so.6"))
    symbol = name if is_double else f"{name}f"
    function = next(getattr(one, symbol) for one in libraries if hasattr(one, symbol))
    kind = ctypes.c_double if is_double else ctypes.c_float
    function.restype, function.argtypes = kind, [kind] * operands
    return function  # type: ignore[no-any-return]


def _library(name: str) -> Expression:
    """Return a call to the C library. 16-bit floats use the function for singles."""

    def write(body: FunctionSource, op: Operation) -> str:
        type_ = op.results[0].type
        round_ = rounding(type_)
        function = _library_function(
            name, is_double=isinstance(type_, Float64Type), operands=len(op.operands)
        )
        call = f"{body.keep(function)}({', '.join(map(body.name, op.operands))})"
        return f"{body.keep(round_)}({call})" if round_ not in (None, to_single) else call

    return write


def _float_power(base: float, exponent: int) -> float:
    """Raise to an integer power, whose lowest bit sets the sign.

    A large exponent becomes even when it is rounded to a double.
    """
    power = _library_function("pow", is_double=True, operands=2)(abs(base), _as_double(exponent))
    return math.copysign(power, base) if exponent & 1 else power


def _reciprocal_root(body: FunctionSource, op: Operation) -> str:
    type_ = op.results[0].type
    root = _fitted(body, _library("sqrt")(body, op), type_)
    return _fitted(body, f"{body.keep(_divided)}(1.0, {root})", type_)


def bind_number(body: FunctionSource, value: SSAValue, number: float) -> None:
    """Bind a value to a number."""
    width = width_of(value.type)
    if width and isinstance(number, int):
        number = number & 1 if width == 1 else wrapped(number, width)
    elif is_float(value.type):
        round_ = rounding(value.type)
        number = float(number) if round_ is None else round_(number)
        if not math.isfinite(number):
            body.bind(value, body.keep(number))
            return
    body.bind(value, f"({number!r})" if number < 0 else repr(number))


def _constant(body: FunctionSource, op: arith.ConstantOp) -> None:
    value = op.value
    if not isinstance(value, IntegerAttr | FloatAttr):
        raise UnsupportedType(f"'{value}' is not a constant of compiled code")
    bind_number(body, op.result, value.value.data)


_EXPRESSIONS: dict[str, Expression] = {
    **{f"arith.{name}": _of_table(family, name) for family in ARITHMETIC for name in family.arith},
    "arith.divf": _with(_divided),
    "arith.remf": _with(_remainder),
    "arith.divui": _with(operator.floordiv, _unsigned),
    "arith.remui": _with(operator.mod, _unsigned),
    "arith.ceildivui": _with(_divided_up, _unsigned),
    "arith.ceildivsi": _with(_divided_up),
    "arith.shli": _of_width(lambda a, b, width: a << b if b < width else 0, _unsigned),
    "arith.shrui": _of_width(_shifted_right, _unsigned),
    "arith.shrsi": _of_width(_shifted_right, _signed),
    "arith.maxui": _with(max, _unsigned),
    "arith.minui": _with(min, _unsigned),
    **{f"arith.{name}": _with(function) for name, function in FLOAT_CHOICES.items()},
    "arith.cmpi": _compare,
    "arith.cmpf": _compare,
    "arith.select": _select,
    "arith.negf": lambda body, op: f"-{body.name(op.operands[0])}",
    "arith.extsi": lambda body, op: _signed(body, op.operands[0]),
    "arith.extui": lambda body, op: _unsigned(body, op.operands[0]),
    "arith.trunci": _resized(lambda body, value: body.name(value)),
    "arith.index_cast": _resized(_signed),
    "arith.index_castui": _resized(_unsigned),
    "arith.sitofp": _to_float(_signed),
    "arith.uitofp": _to_float(_unsigned),
    "arith.fptosi": _to_integer,
    "arith.fptoui": _to_integer,
    "arith.extf": lambda body, op: body.name(op.operands[0]),
    "arith.truncf": lambda body, op: _fitted(body, body.name(op.operands[0]), op.results[0].type),
    **{name: _library(function) for name, function in _LIBRARY.items()},
    "math.absi": _with(abs),
    "math.ctlz": _bits(lambda a, width: width - a.bit_length()),
    "math.cttz": _bits(lambda a, width: (a & -a).bit_length() - 1 if a else width),
    "math.ctpop": _bits(lambda a, _: a.bit_count()),
    "math.roundeven": _with(_even),
    "math.fpowi": _with(_float_power),
    "math.ipowi": _of_width(_power, _signed, _signed),
    "math.rsqrt": _reciprocal_root,
}


def _let(write: Expression) -> Lowering:
    return lambda body, op: body.let(op.results[0], write(body, op))


LOWERINGS: dict[str, Lowering] = {
    **{name: _let(write) for name, write in _EXPRESSIONS.items()},
    arith.ConstantOp.name: _constant,
}
