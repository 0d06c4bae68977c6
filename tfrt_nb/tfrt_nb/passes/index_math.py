"""Arithmetic on `index` values, emitted operation by operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from tfrt_nb.passes.control_flow import Emitter, OpT
from tfrt_nb.passes.folds.table import FOLDERS
from tfrt_nb.passes.greedy.constants import constant_of, integer_of
from tfrt_nb.passes.greedy.rewriter import Rewriter


@dataclass
class RewritingEmitter(Emitter):
    """Lets a rewriter know of each operation."""

    rewriter: Rewriter

    def __call__(self, op: OpT) -> OpT:
        super().__call__(op)
        self.rewriter.look_at(op)
        return op


@dataclass
class IndexMath:
    """Emits each operation in its place, constants included; folding is left to others."""

    emit: RewritingEmitter

    def inside(self, block: Block) -> IndexMath:
        """The same at the end of a block."""
        return IndexMath(RewritingEmitter(block, None, self.emit.location, self.emit.rewriter))

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
        folded = FOLDERS[op.name](op, [constant_of(operand) for operand in op.operands])
        if not folded:
            return self.emit(op).results[0]
        op.drop_all_references()
        [value] = folded
        if isinstance(value, SSAValue):
            return value
        assert isinstance(value, IntegerAttr)
        return self.constant(value.value.data)


def known_number(value: SSAValue) -> int | None:
    """The number, if the value is a constant index."""
    return integer_of(value) if value.type == IndexType() else None
