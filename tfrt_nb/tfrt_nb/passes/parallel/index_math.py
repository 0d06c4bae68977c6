"""Arithmetic on `index` values, emitted operation by operation, and what is known of its results.

`folded` computes the arithmetic of loop bounds when its operands are constants:

    %d = arith.subi %n, %c0 : index        =>      %n
    %w = arith.maxsi %c32, %c1 : index     =>      %c32 = arith.constant 32 : index

`simplify` does so in a whole module, drops what is unused then, and keeps one constant of each
kind, at the start of its function: `async-parallel-for` ends with it.  Other programs are
simplified by xDSL's `canonicalize`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from tfrt_nb.passes.control_flow import Emitter, erase, integer_of, operations_in, replace
from tfrt_runtime import scalars

Folded: TypeAlias = SSAValue | Attribute | None
"""The value that an operation gives, or the constant; None if neither is known."""

_CONSTANTS = frozenset(("arith.constant", "ub.poison"))
_INDEX_BITS = 64


@dataclass
class IndexMath:
    """Emits each operation in its place, constants included; `trip_count` folds what is known."""

    emit: Emitter

    def inside(self, block: Block) -> IndexMath:
        """The same at the end of a block."""
        return IndexMath(Emitter.at_end(block, self.emit.location))

    def constant(self, number: int) -> SSAValue:
        return self.emit.integer(number)

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


def _constant_of(value: SSAValue) -> Attribute | None:
    """The attribute, if the value is a constant."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.name in _CONSTANTS:
        return owner.properties.get("value")
    return None


def folded(op: Operation) -> Folded:
    """What the operation gives.  A constant operand of a commutative one moves behind the other."""
    if op.name in _COMMUTATIVE and _constant_of(op.operands[1]) is None:
        left, right = op.operands
        if _constant_of(left) is not None:
            op.operands = [right, left]
    return _binary(op) if op.name in _INTEGERS else None


def simplify(module: ModuleOp) -> None:
    """Fold until nothing changes, drop what is unused, and collect constants."""
    _drop_unused(module)
    _collect_constants(module)
    while _fold_all(module):
        _drop_unused(module)
    _collect_constants(module)


def _fold_all(module: ModuleOp) -> bool:
    """Fold each operation once; whether any was."""
    has_changed = False
    for op in operations_in(module):
        if (known := folded(op)) is not None:
            has_changed = True
            replace(op, [_value(known, op)])
    return has_changed


def _drop_unused(module: ModuleOp) -> None:
    for op in reversed(operations_in(module)):
        if is_trivially_dead(op):
            erase(op)


def _value(known: SSAValue | Attribute, op: Operation) -> SSAValue:
    if isinstance(known, SSAValue):
        return known
    assert isinstance(known, IntegerAttr)
    return Emitter.in_front_of(op)(arith.ConstantOp(known)).result


def _collect_constants(module: ModuleOp) -> None:
    """Keep one constant of each kind in a function: those at its start stay, others go in front
    of them.
    """
    for function in module.body.block.ops:
        for region in function.regions:
            if region.blocks:
                _collect_in(region)


def _collect_in(function: Region) -> None:
    entry = function.blocks[0]
    kept: dict[tuple[Attribute, Attribute], arith.ConstantOp] = {}
    for op in operations_in(function):
        if not isinstance(op, arith.ConstantOp):
            continue
        key = op.value, op.result.type
        if key in kept:
            replace(op, kept[key].results)
            continue
        is_at_start = op.parent is entry and (op.prev_op is None or op.prev_op in kept.values())
        if not is_at_start:
            assert op.parent is not None and entry.first_op is not None
            entry.insert_op_before(op.parent.detach_op(op), entry.first_op)
        kept[key] = op


def _wrapped(number: int, type_: Attribute) -> IntegerAttr:
    """The lowest bits of a number, read with a sign."""
    assert isinstance(type_, IntegerType | IndexType)
    width = type_.width.data if isinstance(type_, IntegerType) else _INDEX_BITS
    return IntegerAttr(scalars.wrapped(number, width), type_)


_COMMUTATIVE = frozenset(f"arith.{name}i" for name in ("add", "mul", "maxs", "mins", "and"))


_INTEGERS: dict[str, int | None] = {
    "arith.addi": 0,
    "arith.subi": 0,
    "arith.muli": 1,
    "arith.divsi": 1,
    "arith.ceildivsi": 1,
    "arith.remsi": None,
    "arith.maxsi": None,
    "arith.minsi": None,
    "arith.andi": -1,
}
"""The second operand that changes nothing."""
_DIVISIONS = frozenset(("arith.divsi", "arith.ceildivsi"))
"""Not defined where the quotient is too large."""


def _computed(name: str, left: int, right: int) -> int | None:
    if name == "arith.ceildivsi":
        return -(-left // right) if right else None
    return scalars.folded(name.removeprefix("arith."), left, right)


def _binary(op: Operation) -> Folded:
    neutral = _INTEGERS[op.name]
    left, right = map(integer_of, op.operands)
    if right is None:
        return None
    if right == neutral:
        return op.operands[0]
    if right == 0 and op.name in ("arith.muli", "arith.andi"):
        return op.operands[1]
    if right == 1 and op.name == "arith.remsi":
        return _wrapped(0, op.results[0].type)
    number = None if left is None else _computed(op.name, left, right)
    if number is None:
        return None
    result = _wrapped(number, op.results[0].type)
    is_defined = op.name not in _DIVISIONS or result.value.data == number
    return result if is_defined else None
