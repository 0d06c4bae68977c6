"""Arithmetic on floats: constants, and operands that change nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from tfrt_nb.passes.folds.integers import constant_behind, defined_by, truth
from tfrt_nb.passes.folds.rounding import float_constant
from tfrt_nb.passes.greedy.driver import Folded, Folder

Constants = Sequence[Attribute | None]


def float_of(constant: Attribute | None) -> float | None:
    """The number, if the constant is a float."""
    return constant.value.data if isinstance(constant, FloatAttr) else None


def _divided(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _remainder(a: float, b: float) -> float:
    if math.isinf(a) or b == 0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.fmod(a, b)


def _maximum(a: float, b: float) -> float:
    """A zero without a sign is more than one with a sign."""
    if a == b == 0:
        return a if math.copysign(1.0, a) > 0 else b
    return max(a, b)


def _minimum(a: float, b: float) -> float:
    return -_maximum(-a, -b)


def _computed(compute: Callable[[float, float], float], a: float, b: float) -> float:
    """What is not a number stays what it is; what becomes none has no sign."""
    if math.isnan(a) or math.isnan(b):
        return a if math.isnan(a) else b
    result = compute(a, b)
    return math.nan if math.isnan(result) else result


def _preferred(compute: Callable[[float, float], float], a: float, b: float) -> float:
    """Of a number and what is none, the number."""
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return compute(a, b)


def binary(
    compute: Callable[[float, float], float],
    neutral: Callable[[float], bool] | None = None,
    *,
    is_commutative: bool = False,
    is_idempotent: bool = False,
    prefers_numbers: bool = False,
) -> Folder:
    """Fold constants, and `x` with an operand behind it that is neutral."""
    of_constants = _preferred if prefers_numbers else _computed

    def fold(op: Operation, constants: Constants) -> Folded:
        left, right = map(float_of, constants)
        if is_idempotent and op.operands[0] is op.operands[1]:
            return [op.operands[0]]
        if neutral is not None and right is not None and neutral(right):
            return [op.operands[0]]
        if left is not None and right is not None:
            return [float_constant(of_constants(compute, left, right), op.results[0].type)]
        return constant_behind(op, constants) if is_commutative else None

    return fold


def _is(number: float) -> Callable[[float], bool]:
    sign = math.copysign(1.0, number)
    return lambda value: value == number and math.copysign(1.0, value) == sign


def negf(op: Operation, constants: Constants) -> Folded:
    inner = defined_by(op.operands[0], "arith.negf")
    if inner is not None:
        return [inner.operands[0]]
    number = float_of(constants[0])
    return None if number is None else [float_constant(-number, op.results[0].type)]


def compare(predicate: int, a: float, b: float) -> bool:
    """What `arith.cmpf` finds: false, ordered eq gt ge lt le ne ord, unordered the same, true."""
    unordered = math.isnan(a) or math.isnan(b)
    if unordered:
        return predicate >= 8
    relations = (a == b, a > b, a >= b, a < b, a <= b, a != b)
    if predicate in (0, 15):
        return predicate == 15
    if predicate in (7, 14):
        return predicate == 7
    return relations[predicate - 1 if predicate < 7 else predicate - 8]


def cmpf(op: Operation, constants: Constants) -> Folded:
    left, right = map(float_of, constants)
    # Where one is not a number it does not matter what the other is.
    if left is not None and math.isnan(left):
        right = left
    elif right is not None and math.isnan(right):
        left = right
    if left is None or right is None:
        return None
    predicate = op.properties["predicate"]
    assert isinstance(predicate, IntegerAttr)
    return [truth(compare(predicate.value.data, left, right))]


FOLDERS: dict[str, Folder] = {
    "arith.addf": binary(lambda a, b: a + b, _is(-0.0), is_commutative=True),
    "arith.subf": binary(lambda a, b: a - b, _is(0.0)),
    "arith.mulf": binary(lambda a, b: a * b, _is(1.0), is_commutative=True),
    "arith.divf": binary(_divided, _is(1.0)),
    "arith.remf": binary(_remainder),
    "arith.maximumf": binary(_maximum, _is(-math.inf), is_commutative=True, is_idempotent=True),
    "arith.minimumf": binary(_minimum, _is(math.inf), is_commutative=True, is_idempotent=True),
    # What is not a number wins here, as in MLIR, though not when the operation runs.
    "arith.maxnumf": binary(_maximum, _is(-math.inf), is_commutative=True, is_idempotent=True),
    "arith.minnumf": binary(
        _minimum,
        _is(math.inf),
        is_commutative=True,
        is_idempotent=True,
        prefers_numbers=True,
    ),
    "arith.negf": negf,
    "arith.cmpf": cmpf,
}
