"""Selects of selects, and selects between truth values."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Operation, SSAValue

from tfrt_nb.passes.folds.integers import defined_by
from tfrt_nb.passes.greedy.constants import integer_of
from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.greedy.rewriter import Rewriter
from tfrt_nb.passes.patterns.integers import constant


def _select(condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> Operation:
    return arith.SelectOp.create(operands=[condition, then, otherwise], result_types=[then.type])


def complement(value: SSAValue, before: Operation, rewriter: Rewriter) -> SSAValue:
    """A new `not value`."""
    ones = constant(-1, value.type, before, rewriter)
    made = arith.XOrIOp.create(operands=[value, ones], result_types=[value.type])
    return rewriter.insert(made, before).results[0]


def _same_condition_before(op: Operation, rewriter: Rewriter) -> bool:
    """A select of a select by the same condition."""
    condition, then, otherwise = op.operands
    inner = defined_by(then, "arith.select")
    if inner is not None and inner.operands[0] is condition:
        rewriter.replace_with(op, _select(condition, inner.operands[1], otherwise))
        return True
    inner = defined_by(otherwise, "arith.select")
    if inner is not None and inner.operands[0] is condition:
        rewriter.replace_with(op, _select(condition, then, inner.operands[2]))
        return True
    return False


def _of_complement(op: Operation, rewriter: Rewriter) -> bool:
    condition, then, otherwise = op.operands
    made = defined_by(condition, "arith.xori")
    if made is None or integer_of(made.operands[1]) != -1:
        return False
    rewriter.replace_with(op, _select(made.operands[0], otherwise, then))
    return True


def _is_complement(op: Operation, rewriter: Rewriter) -> bool:
    """`select c, false, true` is `not c`."""
    condition, then, otherwise = op.operands
    if op.results[0].type != i1 or integer_of(then) != 0 or integer_of(otherwise) != -1:
        return False
    rewriter.replace(op, [complement(condition, op, rewriter)])
    return True


def _is_extension(op: Operation, rewriter: Rewriter) -> bool:
    """`select c, 1, 0` is c as a number."""
    condition, then, otherwise = op.operands
    type_ = op.results[0].type
    if condition.type != i1 or not isinstance(type_, IntegerType) or type_.width.data <= 1:
        return False
    numbers = integer_of(then), integer_of(otherwise)
    if numbers == (0, 1):
        condition = complement(condition, op, rewriter)
    elif numbers != (1, 0):
        return False
    rewriter.replace_with(op, arith.ExtUIOp.create(operands=[condition], result_types=[type_]))
    return True


PATTERNS: dict[str, Sequence[Pattern]] = {
    "arith.select": (
        _same_condition_before,
        _of_complement,
        _is_complement,
        _is_extension,
    ),
}
