"""What MLIR's conversions do to operations that they are not told about: each is folded, once.

A folded operation is replaced by a value that is there or by a constant in its place, whether anybody uses
it or not; operations that use it do not see the constant.  Of MLIR's folders there are those of `arith` and
`math` on scalars and those of the commonest operations of `memref`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnrankedMemRefType,
)
from xdsl.ir import Operation

from tfrt_nb.passes.folding_arithmetic import Folded, fold_arithmetic, reorder
from tfrt_nb.passes.folding_constants import Number, constant_of, float_of, integer


def fold_once(op: Operation) -> Folded | None:
    """What the only result of the operation is; None if that is not known.

    Operands may change their order, or be what they were cast from, all the same.
    """
    dialect, _, name = op.name.partition(".")
    if dialect == "arith" and name != "constant":
        reorder(op)
        return fold_arithmetic(op)
    if dialect == "math":
        return _fold_function(op, name)
    if name in _THROUGH_CASTS and dialect == "memref":
        _look_through_casts(op, _THROUGH_CASTS[name])
        return _fold_size(op) if isinstance(op, memref.DimOp) else None
    return None


_THROUGH_CASTS = {"load": 0, "store": 1, "dealloc": 0, "dim": 0}
"""Which operand is the buffer."""


def _look_through_casts(op: Operation, index: int) -> None:
    while isinstance(cast := op.operands[index].owner, memref.CastOp):
        if isinstance(cast.source.type, UnrankedMemRefType):
            return
        op.operands[index] = cast.source


def _fold_size(op: memref.DimOp) -> Folded | None:
    position, type_ = constant_of(op.index), op.source.type
    if not isinstance(position, IntegerAttr) or not isinstance(type_, MemRefType):
        return None
    dimension, sizes = position.value.data, type_.get_shape()
    if not 0 <= dimension < len(sizes):
        return None
    if sizes[dimension] != DYNAMIC_INDEX:
        return integer(sizes[dimension], IndexType())
    made = op.source.owner
    if isinstance(made, memref.AllocOp | memref.AllocaOp):
        return made.dynamic_sizes[sizes[:dimension].count(DYNAMIC_INDEX)]
    return None


_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "absf": abs,
    "atan": math.atan,
    "ceil": lambda x: float(math.ceil(x)),
    "cos": math.cos,
    "erf": math.erf,
    "exp": math.exp,
    "expm1": math.expm1,
    "floor": lambda x: float(math.floor(x)),
    "log": math.log,
    "log10": math.log10,
    "log1p": math.log1p,
    "log2": math.log2,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tan": math.tan,
    "tanh": math.tanh,
    "trunc": lambda x: float(math.trunc(x)),
}


def _fold_function(op: Operation, name: str) -> Number | None:
    type_ = op.results[0].type
    constant = constant_of(op.operands[0])
    if name not in _FUNCTIONS or not isinstance(constant, FloatAttr):
        return None
    if not isinstance(type_, Float32Type | Float64Type):
        return None
    try:
        return float_of(_FUNCTIONS[name](constant.value.data), type_)
    except (ValueError, OverflowError):
        return None
