"""MLIR's `llvm` dialect, as far as programs need it that `convert-async-to-llvm` has lowered.

xDSL's operations, replaced or joined by those here where MLIR knows more or prints another text.
Read in this order: `types`, `operations`, `coroutines`.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.ir import Dialect

from tfrt_nb.dialects.llvm import coroutines, operations
from tfrt_nb.dialects.llvm.types import TokenType

_OURS = {op.name: op for op in (*operations.OPERATIONS, *coroutines.OPERATIONS)}

Llvm = Dialect(
    "llvm",
    [*_OURS.values(), *(op for op in llvm.LLVM.operations if op.name not in _OURS)],
    [*llvm.LLVM.attributes, TokenType],
)

__all__ = ["Llvm"]
