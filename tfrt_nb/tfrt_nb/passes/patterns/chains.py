"""Chains of host programs.

    %c = tfrt.new.chain
    %m = tfrt.merge.chains %a, %b, %a, %c : ...        tfrt.merge.chains %b, %a, %x : ...
    %n = tfrt.merge.chains %m, %x : ...

A merged chain is ready when it was before, and when several of its operands are errors, it is still the
last one's: of equal operands the last stays, and the operands of a merge take its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tfrt_nb.dialects.types import CHAIN
from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.greedy.rewriter import Rewriter

MERGE, NEW = "tfrt.merge.chains", "tfrt.new.chain"


def _merge_fewer(op: Operation, rewriter: Rewriter) -> bool:
    operands = _needed(_flattened(op.operands))
    if len(operands) == 1 and operands[0].type == CHAIN:
        rewriter.replace(op, [operands[0]])
    elif operands != list(op.operands):
        rewriter.set_operands(op, operands)
    else:
        return False
    return True


def _flattened(values: Sequence[SSAValue]) -> list[SSAValue]:
    """`values`, with the operands of a merge in its place if nobody else needs that."""
    flat: list[SSAValue] = []
    for value in values:
        owner = value.owner
        if isinstance(owner, Operation) and owner.name == MERGE and value.has_one_use():
            flat += owner.operands
        else:
            flat.append(value)
    return flat


def _needed(values: list[SSAValue]) -> list[SSAValue]:
    """`values`, each once and without chains that are ready from the start; at least one."""
    last = {value: position for position, value in enumerate(values)}
    once = [value for position, value in enumerate(values) if last[value] == position]
    awaited = [value for value in once if not _is_new_chain(value)]
    return awaited or once[-1:]


def _is_new_chain(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name == NEW


PATTERNS: dict[str, Sequence[Pattern]] = {MERGE: (_merge_fewer,)}
