"""Simpler operations for the same program, as MLIR's canonicalizer has them.

    %c2 = arith.constant 2 : i32                %c5_i32 = arith.constant 5 : i32
    %c3 = arith.constant 3 : i32        =>      %0 = arith.addi %x, %c5_i32 : i32
    %a = arith.addi %x, %c2 : i32
    %b = arith.addi %a, %c3 : i32

`folds` has what operations with known operands are, `patterns` what else is simpler, `greedy` applies both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tfrt_nb.passes.folds.table import FOLDERS
from tfrt_nb.passes.greedy.driver import rewrite_greedily
from tfrt_nb.passes.patterns.table import PATTERNS


@dataclass(frozen=True)
class Canonicalize(ModulePass):
    """`canonicalize`"""

    name: ClassVar[str] = "canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_greedily(op.body, FOLDERS, PATTERNS)
