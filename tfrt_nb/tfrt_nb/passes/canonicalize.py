"""Simpler operations for the same program.

Beside what xDSL knows of its dialects, chains of host programs:

    %c = tfrt.new.chain
    %m = tfrt.merge.chains %a, %b, %a, %c : ...        tfrt.merge.chains %b, %a, %x : ...
    %n = tfrt.merge.chains %m, %x : ...

Invariants: a merged chain is ready when it was before, and when several of its operands are errors, it
is still the last one's: of equal operands the last stays, and the operands of a merge take its place.
What has no effect and no user goes away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.transforms.canonicalize import CanonicalizePass

from tfrt_nb.dialects.types import CHAIN
from tfrt_nb.passes.folding import fold_constants

MERGE, NEW = "tfrt.merge.chains", "tfrt.new.chain"
_CONSTANT = "tfrt.constant."


@dataclass(frozen=True)
class Canonicalize(CanonicalizePass):
    """`canonicalize`"""

    name = "canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_constants(op)
        super().apply(ctx, op)
        fold_constants(op)
        PatternRewriteWalker(_MergeChains()).rewrite_module(op)
        # The last first, so that what only a dead operation used is dead when its turn comes.
        PatternRewriteWalker(_DeadOperation(), walk_reverse=True).rewrite_module(op)


class _MergeChains(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if op.name != MERGE:
            return
        operands = _needed(_flattened(op.operands))
        if len(operands) == 1 and operands[0].type == CHAIN:
            rewriter.replace(op, [], [operands[0]])
        elif operands != list(op.operands):
            op.operands = operands
            rewriter.notify_op_modified(op)


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


class _DeadOperation(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        is_pure = op.name in (MERGE, NEW) or op.name.startswith(_CONSTANT)
        if is_pure and not any(result.uses for result in op.results):
            rewriter.erase(op)
