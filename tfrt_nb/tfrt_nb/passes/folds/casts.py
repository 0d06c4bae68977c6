"""Conversions between integers, indices and floats."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from tfrt_nb.passes.folds.integers import defined_by, number_of, unsigned
from tfrt_nb.passes.folds.rounding import bits_of, float_constant, from_bits, rounded
from tfrt_nb.passes.greedy.constants import integer as integer_constant
from tfrt_nb.passes.greedy.constants import is_integer, signed, width_of
from tfrt_nb.passes.greedy.driver import Folded

Constants = Sequence[Attribute | None]


def _take_what_is_cast(op: Operation, *names: str) -> Folded:
    """A cast of a cast takes what the first one takes."""
    inner = defined_by(op.operands[0], *names)
    if inner is None:
        return None
    op.operands[0] = inner.operands[0]
    return ()


def extui(op: Operation, constants: Constants) -> Folded:
    if (taken := _take_what_is_cast(op, "arith.extui")) is not None:
        return taken
    number = number_of(constants[0])
    if number is None:
        return None
    plain = unsigned(number, width_of(op.operands[0].type))
    return [integer_constant(plain, op.results[0].type)]


def extsi(op: Operation, constants: Constants) -> Folded:
    if (taken := _take_what_is_cast(op, "arith.extsi")) is not None:
        return taken
    number = number_of(constants[0])
    return None if number is None else [integer_constant(number, op.results[0].type)]


def trunci(op: Operation, constants: Constants) -> Folded:
    type_ = op.results[0].type
    extended = defined_by(op.operands[0], "arith.extui", "arith.extsi")
    if extended is not None:
        source = extended.operands[0]
        if width_of(source.type) > width_of(type_):
            op.operands[0] = source
            return ()
        if source.type == type_:
            return [source]
    if (taken := _take_what_is_cast(op, "arith.trunci")) is not None:
        return taken
    number = number_of(constants[0])
    return None if number is None else [integer_constant(number, type_)]


def index_cast(op: Operation, constants: Constants) -> Folded:
    number = number_of(constants[0])
    return None if number is None else [integer_constant(number, op.results[0].type)]


def index_castui(op: Operation, constants: Constants) -> Folded:
    number = number_of(constants[0])
    if number is None:
        return None
    plain = unsigned(number, width_of(op.operands[0].type))
    return [integer_constant(plain, op.results[0].type)]


def extf(op: Operation, constants: Constants) -> Folded:
    [value] = constants
    return (
        [float_constant(value.value.data, op.results[0].type)]
        if isinstance(value, FloatAttr)
        else None
    )


def truncf(op: Operation, constants: Constants) -> Folded:
    """A constant only if the other type has exactly that number."""
    [value] = constants
    type_ = op.results[0].type
    if not isinstance(value, FloatAttr):
        return None
    number = value.value.data
    if not math.isnan(number) and rounded(number, type_) != number:
        return None
    return [float_constant(number, type_)]


def sitofp(op: Operation, constants: Constants) -> Folded:
    number = number_of(constants[0])
    return None if number is None else [float_constant(number, op.results[0].type)]


def uitofp(op: Operation, constants: Constants) -> Folded:
    number = number_of(constants[0])
    if number is None:
        return None
    return [float_constant(unsigned(number, width_of(op.operands[0].type)), op.results[0].type)]


def fptosi(op: Operation, constants: Constants) -> Folded:
    return _to_integer(op, constants, is_signed=True)


def fptoui(op: Operation, constants: Constants) -> Folded:
    return _to_integer(op, constants, is_signed=False)


def _to_integer(op: Operation, constants: Constants, *, is_signed: bool) -> Folded:
    """Rounded towards zero, if the type has that number."""
    [value] = constants
    if not isinstance(value, FloatAttr) or not math.isfinite(value.value.data):
        return None
    type_ = op.results[0].type
    number, width = math.trunc(value.value.data), width_of(type_)
    fits = signed(number, width) if is_signed else unsigned(number, width)
    return [integer_constant(number, type_)] if fits == number else None


def bitcast(op: Operation, constants: Constants) -> Folded:
    [value] = constants
    type_ = op.results[0].type
    if op.operands[0].type == type_:
        return [op.operands[0]]
    if isinstance(value, IntegerAttr):
        bits = unsigned(value.value.data, width_of(value.type))
    elif isinstance(value, FloatAttr):
        bits = bits_of(value.value.data, value.type)
    else:
        return None
    if isinstance(type_, AnyFloat):
        return [from_bits(bits, type_)]
    return [integer_constant(bits, type_)] if is_integer(type_) else None
