"""Run xDSL's canonicalization, but fold constants to the values that compiled code computes.

    %a = arith.constant 3.400000e+38 : f32
    %r = arith.addf %a, %a : f32               =>     %r = arith.constant 0x7F800000 : f32

xDSL (0.74) folds with Python's numbers. A sum that is too large for an f32 or f16 raises
OverflowError, and an index does not wrap. This pass folds integers with the table of scalar
operations that the runtime executes. It folds floats in their own type, by IEEE 754, as compiled
code does.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.transforms.dead_code_elimination import region_dce

from tfrt_nb.passes.parallel.index_math import folded

_FLOATS: dict[type[Attribute], Any] = {
    Float16Type: np.float16,
    Float32Type: np.float32,
    Float64Type: np.float64,
}
_COMPUTE: dict[type[Operation], Any] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
}


class Canonicalize(ModulePass):
    """The pass `canonicalize`."""

    name = "canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # The applier uses the first pattern that matches, so this module's folding comes first.
        patterns: list[RewritePattern] = [_FoldConstants(), _Upstream()]
        applier = GreedyRewritePatternApplier(patterns, ctx=ctx)
        PatternRewriteWalker(applier, post_walk_func=region_dce).rewrite_module(op)


class _Upstream(CanonicalizationRewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        # Leave the operation unchanged if its type cannot hold the combined constant.
        with suppress(OverflowError):
            super().match_and_rewrite(op, rewriter)


class _FoldConstants(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        known = _float(op) if type(op) in _COMPUTE else folded(op)
        if isinstance(known, SSAValue):
            rewriter.replace(op, [], [known])
        elif isinstance(known, IntegerAttr | FloatAttr):
            rewriter.replace(op, arith.ConstantOp(known))


def _float(op: Operation) -> Attribute | None:
    """Fold an operation on two constants in the matching numpy type.

    The result is therefore rounded only once.
    """
    type_ = op.results[0].type
    kind = _FLOATS.get(type(type_))
    owners = [operand.owner for operand in op.operands]
    known = [one.value for one in owners if isinstance(one, arith.ConstantOp)]
    numbers = [one.value.data for one in known if isinstance(one, FloatAttr)]
    if kind is None or len(numbers) < len(owners) or not isinstance(type_, AnyFloat):
        return None
    with np.errstate(all="ignore"):
        return FloatAttr(float(_COMPUTE[type(op)](*map(kind, numbers))), type_)
