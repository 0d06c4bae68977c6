"""Emit arithmetic on `index` values, and fold arithmetic whose operands are known.

`folded` folds one operation:

    %d = arith.subi %n, %c0 : index        =>      %n
    %w = arith.maxsi %c32, %c1 : index     =>      %c32 = arith.constant 32 : index

`simplify` folds a whole module. It then erases unused operations, and keeps one copy of each
constant at the start of each function. `async-parallel-for` calls it at the end. xDSL's
`canonicalize` simplifies other programs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from tfrt_nb.passes.control_flow import Emitter, block_of, erase, integer_of, operations_in, replace
from tfrt_runtime import scalars

Folded: TypeAlias = SSAValue | Attribute | None
"""The value or the constant to which an operation folds; None if the result is not known."""

_CONSTANTS = frozenset(("arith.constant", "ub.poison"))
_INDEX_BITS = 64


def _emitted(
    kind: type[arith.SignlessIntegerBinaryOperation],
) -> Callable[[IndexMath, SSAValue, SSAValue], SSAValue]:
    return lambda math, left, right: math.emit(kind(left, right)).result


@dataclass
class IndexMath:
    """Emits index arithmetic at one place.

    Only `trip_count` folds operations whose operands are known.
    """

    emit: Emitter

    def inside(self, block: Block) -> IndexMath:
        """Return an object that emits the arithmetic at the end of `block`."""
        return IndexMath(Emitter.at_end(block, self.emit.location))

    def constant(self, number: int) -> SSAValue:
        return self.emit.integer(number)

    add = _emitted(arith.AddiOp)
    sub = _emitted(arith.SubiOp)
    mul = _emitted(arith.MuliOp)
    ceil_div = _emitted(arith.CeilDivSIOp)
    maximum = _emitted(arith.MaxSIOp)
    minimum = _emitted(arith.MinSIOp)
    div = _emitted(arith.DivSIOp)
    rem = _emitted(arith.RemSIOp)

    def product(self, values: Sequence[SSAValue]) -> SSAValue:
        """Emit the product of at least one value."""
        return functools.reduce(self.mul, values)

    def trip_count(self, lower: SSAValue, upper: SSAValue, step: SSAValue) -> SSAValue:
        """Emit the number of steps from `lower` to `upper`, as a constant if it is known."""
        return self._folded(arith.CeilDivSIOp(self._folded(arith.SubiOp(upper, lower)), step))

    def compare(self, predicate: str, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.CmpiOp(left, right, predicate)).result

    def select(self, condition: SSAValue, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit(arith.SelectOp(condition, left, right)).result

    def _folded(self, op: Operation) -> SSAValue:
        """Return the operation's folded result or, if it cannot be folded, emit the operation."""
        known = folded(op)
        if known is None:
            return self.emit(op).results[0]
        # The operation was never inserted, but its operands already have it as a user.
        op.drop_all_references()
        if isinstance(known, SSAValue):
            return known
        assert isinstance(known, IntegerAttr)
        return self.constant(known.value.data)


def _constant_of(value: SSAValue) -> Attribute | None:
    """Return the attribute of a constant, or None if `value` is not a constant."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.name in _CONSTANTS:
        return owner.properties.get("value")
    return None


def folded(op: Operation) -> Folded:
    """Fold an operation.

    If the operation is commutative, its constant operand moves to the second position.
    """
    if op.name in _COMMUTATIVE and _constant_of(op.operands[1]) is None:
        left, right = op.operands
        if _constant_of(left) is not None:
            op.operands = [right, left]
    return _binary(op) if op.name in _INTEGERS else None


def simplify(module: ModuleOp) -> None:
    """Fold until nothing changes, erase unused operations, and merge equal constants."""
    _drop_unused(module)
    _collect_constants(module)
    while _fold_all(module):
        _drop_unused(module)
    _collect_constants(module)


def _fold_all(module: ModuleOp) -> bool:
    """Try to fold each operation once; return whether any folded."""
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
    """Keep one copy of each constant in each function.

    Constants at the function's start stay there. Other constants move before them.
    """
    for region in (region for function in module.body.block.ops for region in function.regions):
        kept: dict[tuple[Attribute, Attribute], arith.ConstantOp] = {}
        for op in operations_in(region):
            if not isinstance(op, arith.ConstantOp):
                continue
            entry, key = region.blocks[0], (op.value, op.result.type)
            if key in kept:
                replace(op, kept[key].results)
                continue
            is_at_start = op.parent is entry and (op.prev_op is None or op.prev_op in kept.values())
            if not is_at_start:
                assert entry.first_op is not None
                entry.insert_op_before(block_of(op).detach_op(op), entry.first_op)
            kept[key] = op


def _wrapped(number: int, type_: Attribute) -> IntegerAttr:
    """Wrap a number to the type's width, as a signed number."""
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
"""The neutral second operand of each operation."""
_DIVISIONS = frozenset(("arith.divsi", "arith.ceildivsi"))
"""The operations that are undefined if the quotient overflows."""


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
