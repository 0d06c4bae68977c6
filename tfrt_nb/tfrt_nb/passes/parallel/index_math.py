"""Arithmetic on `index` values, emitted operation by operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from tfrt_nb.passes.constants import folded, integer_of
from tfrt_nb.passes.control_flow import Emitter


@dataclass
class IndexMath:
    """Emits each operation in its place, constants included; `constants` folds what is known."""

    emit: Emitter

    def inside(self, block: Block) -> IndexMath:
        """The same at the end of a block."""
        return IndexMath(Emitter.at_end(block, self.emit.location))

    def constant(self, number: int) -> SSAValue:
        return self.emit(arith.ConstantOp(IntegerAttr(number, IndexType()))).result

    def add(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.AddiOp(left, right)).result

    def sub(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.SubiOp(left, right)).result

    def mul(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.MuliOp(left, right)).result

    def product(self, values: Sequence[SSAValue]) -> SSAValue:
        """The product of at least one value."""
        product = values[0]
        for value in values[1:]:
            product = self.mul(product, value)
        return product

    def trip_count(self, lower: SSAValue, upper: SSAValue, step: SSAValue) -> SSAValue:
        """How many steps there are from one bound to the other; a constant if it is known."""
        distance = self._folded(arith.SubiOp(upper, lower))
        return self._folded(arith.CeilDivSIOp(distance, step))

    def ceil_div(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.CeilDivSIOp(left, right)).result

    def maximum(self, left: SSAValue, right: SSAValue) -> SSAValue:
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

    def _folded(self, op: Operation) -> SSAValue:
        """What the operation gives, which is emitted only if that is not known."""
        known = folded(op)
        if known is None:
            return self.emit(op).results[0]
        op.drop_all_references()
        if isinstance(known, SSAValue):
            return known
        assert isinstance(known, IntegerAttr)
        return self.constant(known.value.data)


def known_number(value: SSAValue) -> int | None:
    """The number, if the value is a constant index."""
    return integer_of(value) if value.type == IndexType() else None
