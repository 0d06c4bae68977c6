"""Sums of sums, casts of casts and the like."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.arith import IntegerOverflowAttr, IntegerOverflowFlag
from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.passes.folds.integers import defined_by
from tfrt_nb.passes.greedy.constants import constant_op, integer, integer_of, is_integer, width_of
from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.greedy.rewriter import Rewriter

OPPOSITE = (1, 0, 5, 4, 3, 2, 9, 8, 7, 6)
"""The predicate that holds where another does not."""


def constant(number: int, type_: Attribute, before: Operation, rewriter: Rewriter) -> SSAValue:
    """A new constant in front of an operation."""
    made = constant_op(integer(number, type_), type_)
    assert made is not None
    return rewriter.insert(made, before).results[0]


def _both_overflows(op: Operation, other: Operation) -> Attribute:
    """What is promised of both operations."""
    ours, theirs = map(_overflows, (op, other))
    return IntegerOverflowAttr([flag for flag in IntegerOverflowFlag if flag in ours & theirs])


def _overflows(op: Operation) -> set[IntegerOverflowFlag]:
    flags = op.properties.get("overflowFlags")
    return set(flags.data) if isinstance(flags, IntegerOverflowAttr) else set()


def _binary(
    kind: type[Operation], left: SSAValue, right: SSAValue, overflow: Attribute | None
) -> Operation:
    properties = {} if overflow is None else {"overflowFlags": overflow}
    return kind.create(operands=[left, right], result_types=[left.type], properties=properties)


def _constant_sum(op: Operation, rewriter: Rewriter) -> bool:
    """`(x + 1) + 2` and sums with differences that have one constant."""
    outer = integer_of(op.operands[1])
    inner = defined_by(op.operands[0], "arith.addi", "arith.subi")
    if outer is None or inner is None:
        return False
    left, right = map(integer_of, inner.operands)
    if inner.name == "arith.addi":
        return right is not None and _sum(op, inner, inner.operands[0], right + outer, rewriter)
    if right is not None:
        return _sum(op, inner, inner.operands[0], outer - right, rewriter)
    return left is not None and _difference_from(
        op, inner, left + outer, inner.operands[1], rewriter
    )


def _sum(op: Operation, inner: Operation, value: SSAValue, number: int, rewriter: Rewriter) -> bool:
    known = constant(number, value.type, op, rewriter)
    rewriter.replace_with(op, _binary(arith.AddiOp, value, known, _both_overflows(op, inner)))
    return True


def _difference(
    op: Operation, inner: Operation, value: SSAValue, number: int, rewriter: Rewriter
) -> bool:
    known = constant(number, value.type, op, rewriter)
    rewriter.replace_with(op, _binary(arith.SubiOp, value, known, _both_overflows(op, inner)))
    return True


def _difference_from(
    op: Operation, inner: Operation, number: int, value: SSAValue, rewriter: Rewriter
) -> bool:
    known = constant(number, value.type, op, rewriter)
    rewriter.replace_with(op, _binary(arith.SubiOp, known, value, _both_overflows(op, inner)))
    return True


def _sum_with_negative(op: Operation, rewriter: Rewriter) -> bool:
    """`x + y * -1` is `x - y`."""
    for value, product in (tuple(op.operands), tuple(reversed(op.operands))):
        made = defined_by(product, "arith.muli")
        if made is not None and integer_of(made.operands[1]) == -1:
            overflow = _both_overflows(op, made)
            rewriter.replace_with(op, _binary(arith.SubiOp, value, made.operands[0], overflow))
            return True
    return False


def _constant_difference(op: Operation, rewriter: Rewriter) -> bool:
    """Differences of sums and differences that have a constant each."""
    left, right = map(integer_of, op.operands)
    inner = defined_by(op.operands[0], "arith.addi", "arith.subi")
    if right is not None and inner is not None:
        first, second = map(integer_of, inner.operands)
        if inner.name == "arith.addi":
            return second is not None and _sum(
                op, inner, inner.operands[0], second - right, rewriter
            )
        if second is not None:
            return _difference(op, inner, inner.operands[0], second + right, rewriter)
        if first is not None:
            return _difference_from(op, inner, first - right, inner.operands[1], rewriter)
    inner = defined_by(op.operands[1], "arith.addi", "arith.subi")
    if left is None or inner is None:
        return False
    first, second = map(integer_of, inner.operands)
    if inner.name == "arith.addi":
        return second is not None and _difference_from(
            op, inner, left - second, inner.operands[0], rewriter
        )
    if second is not None:
        return _difference_from(op, inner, left + second, inner.operands[0], rewriter)
    return first is not None and _sum(op, inner, inner.operands[1], left - first, rewriter)


def _difference_without_minuend(op: Operation, rewriter: Rewriter) -> bool:
    """`(a - b) - a` is `0 - b`."""
    inner = defined_by(op.operands[0], "arith.subi")
    if inner is None or inner.operands[0] is not op.operands[1]:
        return False
    zero = constant(0, op.results[0].type, op, rewriter)
    overflow = _both_overflows(op, inner)
    rewriter.replace_with(op, _binary(arith.SubiOp, zero, inner.operands[1], overflow))
    return True


def _constant_product(op: Operation, rewriter: Rewriter) -> bool:
    """`(x * 2) * 3` is `x * 6`."""
    outer = integer_of(op.operands[1])
    inner = defined_by(op.operands[0], "arith.muli")
    if outer is None or inner is None:
        return False
    factor = integer_of(inner.operands[1])
    if factor is None:
        return False
    value = inner.operands[0]
    known = constant(factor * outer, value.type, op, rewriter)
    rewriter.replace_with(op, _binary(arith.MuliOp, value, known, _both_overflows(op, inner)))
    return True


def _sum_without_carry(op: Operation, rewriter: Rewriter) -> bool:
    """Without a user of the carry, the sum is plain."""
    if op.results[1].first_use is not None:
        return False
    plain = _binary(arith.AddiOp, op.operands[0], op.operands[1], None)
    rewriter.replace(op, [rewriter.insert(plain, op).results[0], op.results[1]])
    return True


def _product_without_upper_half(op: Operation, rewriter: Rewriter) -> bool:
    if op.results[1].first_use is not None:
        return False
    plain = _binary(arith.MuliOp, op.operands[0], op.operands[1], None)
    rewriter.replace(op, [rewriter.insert(plain, op).results[0], op.results[1]])
    return True


def _upper_half_of_itself(op: Operation, rewriter: Rewriter) -> bool:
    """With sign, the upper half of `x * 1` is all sign."""
    if integer_of(op.operands[1]) != 1:
        return False
    value = op.operands[0]
    zero = constant(0, value.type, op, rewriter)
    negative = arith.CmpiOp.create(
        operands=[value, zero],
        result_types=[i1],
        properties={"predicate": integer(2, i64)},
    )
    rewriter.insert(negative, op)
    high = rewriter.insert(
        arith.ExtSIOp.create(operands=[negative.results[0]], result_types=[value.type]), op
    )
    rewriter.replace(op, [value, high.results[0]])
    return True


def _complement_of_comparison(op: Operation, rewriter: Rewriter) -> bool:
    """What is not less is greater or equal."""
    compared = defined_by(op.operands[0], "arith.cmpi")
    if compared is None or integer_of(op.operands[1]) != -1:
        return False
    predicate = compared.properties["predicate"]
    assert isinstance(predicate, IntegerAttr)
    opposite = IntegerAttr(OPPOSITE[predicate.value.data], predicate.type)
    rewriter.replace_with(
        op,
        arith.CmpiOp.create(
            operands=list(compared.operands),
            result_types=[op.results[0].type],
            properties={"predicate": opposite},
        ),
    )
    return True


def _bits_before_extension(name: str) -> Pattern:
    """An operation on two extended numbers is the extension of the operation on the numbers."""

    def pattern(op: Operation, rewriter: Rewriter) -> bool:
        casts = [defined_by(operand, name) for operand in op.operands]
        left, right = casts
        if left is None or right is None:
            return False
        values = [left.operands[0], right.operands[0]]
        if values[0].type != values[1].type:
            return False
        inner = rewriter.insert(type(op).create(operands=values, result_types=[values[0].type]), op)
        rewriter.replace_with(
            op, type(left).create(operands=inner.results, result_types=op.result_types)
        )
        return True

    return pattern


def _sign_of_unsigned(op: Operation, rewriter: Rewriter) -> bool:
    """What was extended by zeros has no sign."""
    inner = defined_by(op.operands[0], "arith.extui")
    if inner is None:
        return False
    rewriter.replace_with(
        op, type(inner).create(operands=list(inner.operands), result_types=op.result_types)
    )
    return True


def _shorter_extension(name: str) -> Pattern:
    """An extension that is cut again need not be so long."""

    def pattern(op: Operation, rewriter: Rewriter) -> bool:
        inner = defined_by(op.operands[0], name)
        if inner is None:
            return False
        source, type_ = inner.operands[0], op.results[0].type
        if not is_integer(type_) or width_of(source.type) >= width_of(type_):
            return False
        rewriter.replace_with(op, type(inner).create(operands=[source], result_types=[type_]))
        return True

    return pattern


def _shift_without_sign(op: Operation, rewriter: Rewriter) -> bool:
    """Where the sign is cut off, it need not be shifted in."""
    inner = defined_by(op.operands[0], "arith.shrsi")
    if inner is None:
        return False
    count = integer_of(inner.operands[1])
    surplus = width_of(inner.results[0].type) - width_of(op.results[0].type)
    if count is None or not 0 <= count <= surplus:
        return False
    shifted = rewriter.insert(
        arith.ShRUIOp.create(operands=list(inner.operands), result_types=list(inner.result_types)),
        op,
    )
    rewriter.replace_with(
        op, type(op).create(operands=shifted.results, result_types=op.result_types)
    )
    return True


def _cast_there_and_back(name: str, extension: str) -> Sequence[Pattern]:
    """Casts between index and integers."""

    def there_and_back(op: Operation, rewriter: Rewriter) -> bool:
        inner = defined_by(op.operands[0], name)
        if inner is None or inner.operands[0].type != op.results[0].type:
            return False
        rewriter.replace(op, [inner.operands[0]])
        return True

    def of_extension(op: Operation, rewriter: Rewriter) -> bool:
        inner = defined_by(op.operands[0], extension)
        if inner is None:
            return False
        rewriter.replace_with(
            op, type(op).create(operands=list(inner.operands), result_types=op.result_types)
        )
        return True

    return there_and_back, of_extension


def _comparison_before_extension(name: str) -> Pattern:
    """Numbers compare as their extensions do."""

    def pattern(op: Operation, rewriter: Rewriter) -> bool:
        casts = [defined_by(operand, name) for operand in op.operands]
        left, right = casts
        if left is None or right is None:
            return False
        values = [left.operands[0], right.operands[0]]
        predicate = op.properties["predicate"]
        assert isinstance(predicate, IntegerAttr)
        number = predicate.value.data
        if values[0].type != values[1].type:
            return False
        if name == "arith.extui" and 2 <= number <= 5:
            number += 4
        if name == "arith.extsi" and number >= 6:
            return False
        rewriter.replace_with(
            op,
            type(op).create(
                operands=values,
                result_types=op.result_types,
                properties={"predicate": IntegerAttr(number, predicate.type)},
            ),
        )
        return True

    return pattern


def _bitcast_of_bitcast(op: Operation, rewriter: Rewriter) -> bool:
    inner = defined_by(op.operands[0], "arith.bitcast")
    if inner is None:
        return False
    rewriter.replace_with(
        op, type(op).create(operands=list(inner.operands), result_types=op.result_types)
    )
    return True


def _without_two_signs(op: Operation, rewriter: Rewriter) -> bool:
    """`-a * -b` is `a * b`, and so for quotients."""
    signs = [defined_by(operand, "arith.negf") for operand in op.operands]
    if None in signs:
        return False
    values = [sign.operands[0] for sign in signs if sign is not None]
    rewriter.replace_with(
        op,
        type(op).create(
            operands=values, result_types=op.result_types, properties=dict(op.properties)
        ),
    )
    return True


PATTERNS: dict[str, Sequence[Pattern]] = {
    "arith.addi": (_constant_sum, _sum_with_negative),
    "arith.subi": (_constant_difference, _difference_without_minuend),
    "arith.muli": (_constant_product,),
    "arith.addui_extended": (_sum_without_carry,),
    "arith.mulsi_extended": (_product_without_upper_half, _upper_half_of_itself),
    "arith.mului_extended": (_product_without_upper_half,),
    "arith.xori": (
        _complement_of_comparison,
        _bits_before_extension("arith.extui"),
        _bits_before_extension("arith.extsi"),
    ),
    "arith.andi": (_bits_before_extension("arith.extui"), _bits_before_extension("arith.extsi")),
    "arith.ori": (_bits_before_extension("arith.extui"), _bits_before_extension("arith.extsi")),
    "arith.extsi": (_sign_of_unsigned,),
    "arith.trunci": (
        _shorter_extension("arith.extsi"),
        _shorter_extension("arith.extui"),
        _shift_without_sign,
    ),
    "arith.index_cast": _cast_there_and_back("arith.index_cast", "arith.extsi"),
    "arith.index_castui": _cast_there_and_back("arith.index_castui", "arith.extui"),
    "arith.cmpi": (
        _comparison_before_extension("arith.extsi"),
        _comparison_before_extension("arith.extui"),
    ),
    "arith.bitcast": (_bitcast_of_bitcast,),
    "arith.mulf": (_without_two_signs,),
    "arith.divf": (_without_two_signs,),
}
