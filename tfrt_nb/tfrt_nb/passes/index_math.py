"""Arithmetic on `index` values that folds what is known, as it is emitted.

`x - 0`, `x * 1` and `x / 1` give x, and operations on constants give constants, which are shared with
the constants that the function already has.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from tfrt_nb.passes.control_flow import Emitter


def constant_value(value: SSAValue) -> int | None:
    """The number, if the value is a constant integer."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def _ceil_div(left: int, right: int) -> int:
    return -(-left // right)


@dataclass
class IndexMath:
    """Emits with `emit`; looks for constants in `entry`, a block that dominates, and adds them there
    in front of `constants_before`."""

    emit: Emitter
    entry: Block
    constants_before: Operation | None

    def at(self, emit: Emitter) -> IndexMath:
        """The same at another place that the entry block dominates."""
        return IndexMath(emit, self.entry, self.constants_before)

    def constant(self, number: int) -> SSAValue:
        """The number, from the entry block."""
        for op in self.entry.ops:
            if op is self.constants_before:
                break
            if _is_index_constant(op, number):
                return SSAValue.get(op.results[0])
        place = Emitter(self.entry, self.constants_before, self.emit.location)
        return place(arith.ConstantOp(IntegerAttr(number, IndexType()))).result

    def add(self, left: SSAValue, right: SSAValue) -> SSAValue:
        if constant_value(left) == 0:
            return right
        if constant_value(right) == 0:
            return left
        known = _known(left, right)
        if known is not None:
            return self.constant(known[0] + known[1])
        return self.emit(arith.AddiOp(*_constant_last(left, right))).result

    def sub(self, left: SSAValue, right: SSAValue) -> SSAValue:
        if constant_value(right) == 0:
            return left
        known = _known(left, right)
        if known is not None:
            return self.constant(known[0] - known[1])
        return self.emit(arith.SubiOp(left, right)).result

    def mul(self, left: SSAValue, right: SSAValue) -> SSAValue:
        if constant_value(left) == 1:
            return right
        if constant_value(right) == 1:
            return left
        known = _known(left, right)
        if known is not None:
            return self.constant(known[0] * known[1])
        return self.emit(arith.MuliOp(*_constant_last(left, right))).result

    def ceil_div(self, left: SSAValue, right: SSAValue) -> SSAValue:
        if constant_value(right) == 1:
            return left
        known = _known(left, right)
        if known is not None and known[1] != 0:
            return self.constant(_ceil_div(*known))
        return self.emit(arith.CeilDivSIOp(left, right)).result

    def maximum(self, left: SSAValue, right: SSAValue) -> SSAValue:
        known = _known(left, right)
        if known is not None:
            return self.constant(max(known))
        return self.emit(arith.MaxSIOp(left, right)).result

    def minimum(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.MinSIOp(left, right)).result

    def div(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.DivSIOp(left, right)).result

    def rem(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.RemSIOp(left, right)).result

    def compare(self, predicate: str, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.CmpiOp(left, right, predicate)).result

    def select(self, condition: SSAValue, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.SelectOp(condition, left, right)).result


def _constant_last(left: SSAValue, right: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Operands whose order does not matter."""
    return (left, right) if constant_value(left) is None else (right, left)


def _known(left: SSAValue, right: SSAValue) -> tuple[int, int] | None:
    numbers = constant_value(left), constant_value(right)
    return None if numbers[0] is None or numbers[1] is None else (numbers[0], numbers[1])


def _is_index_constant(op: Operation, number: int) -> bool:
    return (
        isinstance(op, arith.ConstantOp)
        and op.result.type == IndexType()
        and constant_value(op.result) == number
    )
