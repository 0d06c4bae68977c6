"""What is computed twice is computed once.

    %a = arith.addi %x, %y : i32
    %b = arith.addi %y, %x : i32        =>      %a = arith.addi %x, %y : i32
    "use"(%a, %b)                               "use"(%a, %a)

Invariants: an operation only takes the place of one that it dominates; a load only of one in its block,
with nothing in between that may write.  What nobody uses goes away.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, MutableMapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove

from tfrt_nb.passes.dominance import dominated_blocks
from tfrt_nb.passes.greedy.effects import (
    has_no_effect,
    is_dead,
    is_terminator,
    may_write,
    only_reads,
)

Key: TypeAlias = tuple[Hashable, ...]
Known: TypeAlias = MutableMapping[Key, Operation]

_COMMUTATIVE = frozenset(
    f"arith.{name}"
    for name in (
        *("addf", "addi", "addui_extended", "andi", "maximumf", "maxnumf", "maxsi", "maxui"),
        *("minimumf", "minnumf", "minsi", "minui", "mulf", "muli", "mulsi_extended"),
        *("mului_extended", "ori", "xori"),
    )
) | frozenset(
    f"index.{name}" for name in ("add", "and", "maxs", "maxu", "mins", "minu", "mul", "or", "xor")
)
"""What gives the same when the operands change places."""


@dataclass(frozen=True)
class Cse(ModulePass):
    """`cse`"""

    name: ClassVar[str] = "cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        run = _Run()
        for region in op.regions:
            run.region(region, {})
        for dead in run.dead:
            assert dead.parent is not None
            dead.parent.detach_op(dead)
            dead.drop_all_references()


@dataclass
class _Run:
    dead: list[Operation] = field(default_factory=list)
    """What goes away at the end; until then it still uses its operands."""

    def region(self, region: Region, known: Known) -> None:
        """Simplify a region in which the operations of `known` can be used."""
        if not region.blocks:
            return
        below = dominated_blocks(region)
        pending: list[tuple[Block, Known]] = [(region.blocks[0], _nested(known))]
        while pending:
            block, values = pending.pop()
            self._block(block, values)
            pending += [(inner, _nested(values)) for inner in reversed(below[block])]

    def _block(self, block: Block, known: Known) -> None:
        for op in list(block.ops):
            for region in op.regions:
                self.region(region, {} if op.has_trait(IsolatedFromAbove) else known)
            self._operation(op, known)

    def _operation(self, op: Operation, known: Known) -> None:
        if is_terminator(op):
            return
        if is_dead(op):
            self.dead.append(op)
            return
        if any(len(region.blocks) > 1 for region in op.regions):
            return
        reads = only_reads(op)
        if not reads and not has_no_effect(op):
            return
        key = _key(op)
        existing = known.get(key)
        if existing is None or (reads and not _is_unchanged_between(existing, op)):
            known[key] = op
            return
        for old, new in zip(op.results, existing.results, strict=True):
            old.replace_all_uses_with(new)
        self.dead.append(op)


def _nested(known: Known) -> Known:
    """What is known outside can be used inside, not the other way round."""
    return ChainMap({}, *(known.maps if isinstance(known, ChainMap) else (known,)))


def _is_unchanged_between(first: Operation, second: Operation) -> bool:
    """Whether nothing is written from one operation to another in the same block."""
    if first.parent is not second.parent:
        return False
    op = first.next_op
    while op is not None and op is not second:
        if may_write(op):
            return False
        op = op.next_op
    return True


def _key(op: Operation, numbers: dict[SSAValue, Hashable] | None = None) -> Key:
    """Equal for operations that compute the same."""
    numbers = {} if numbers is None else numbers
    operands: tuple[Hashable, ...] = tuple(
        numbers.get(operand, id(operand)) for operand in op.operands
    )
    return (
        op.name,
        frozenset(operands) if op.name in _COMMUTATIVE else operands,
        len(operands),
        tuple(op.result_types),
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        tuple(_region_key(region, numbers) for region in op.regions),
    )


def _region_key(region: Region, numbers: dict[SSAValue, Hashable]) -> Key:
    """Values inside are known by the order in which they are made."""
    keys: list[Hashable] = []
    for block in region.blocks:
        for argument in block.args:
            numbers[argument] = ("inside", len(numbers))
        keys.append(tuple(block.arg_types))
        for op in block.ops:
            keys.append(_key(op, numbers))
            for result in op.results:
                numbers[result] = ("inside", len(numbers))
    return tuple(keys)
