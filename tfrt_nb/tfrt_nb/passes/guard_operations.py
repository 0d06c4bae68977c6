"""Operations that would end the process are preceded by an assertion.

    %q = arith.divsi %a, %b : i64     =>    %ok = arith.cmpi ne, %b, %zero : i64
                                            cf.assert %ok, "division by zero"
                                            %q = arith.divsi %a, %b : i64

MLIR leaves a division by zero and an access outside of a buffer undefined, and lets a deep recursion
overflow the stack; in a notebook all must be errors that name the line.  What is known to be right is not guarded: a divisor that is a constant other
than zero, a constant index below a static size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.runtime import RuntimeStackIsLowOp
from tfrt_nb.passes.call_graph import recursive_functions
from tfrt_nb.passes.control_flow import Emitter
from tfrt_nb.passes.coroutines import finished_coroutine
from tfrt_nb.passes.index_math import constant_value

_DIVISIONS = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.FloorDivSIOp,
)

_RESUME = 1
"""The successor of `async.coro.suspend` where a coroutine goes on."""
_ACCESSES = memref.LoadOp | memref.StoreOp | memref.AtomicRMWOp


@dataclass(frozen=True)
class GuardOperations(ModulePass):
    """Guards integer `divisions`, buffer `accesses` and the `recursion` of plain functions."""

    name: ClassVar[str] = "async-guard-operations"

    divisions: bool = True
    accesses: bool = True
    recursion: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in list(op.walk()):
            if self.divisions and isinstance(nested, _DIVISIONS):
                _guard_division(nested, nested.rhs)
            elif self.accesses and isinstance(nested, _ACCESSES):
                _guard_access(nested, nested.memref, nested.indices)
        if self.recursion:
            _guard_recursion(op)


def _guard_recursion(module: ModuleOp) -> None:
    recursive = recursive_functions(module)
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.sym_name.data in recursive:
            emit = Emitter.at_start(_first_block(op), op.location)
            is_low = emit(RuntimeStackIsLowOp()).result
            true = emit(arith.ConstantOp(IntegerAttr(1, i1))).result
            enough = emit(arith.XOrIOp(is_low, true)).result
            emit(cf.AssertOp(enough, "the stack is exhausted"))


def _first_block(function: FuncOp) -> Block:
    """Where the work begins: in a coroutine behind the block that makes its results."""
    entry = function.body.blocks[0]
    if finished_coroutine(function) is None or entry.last_op is None:
        return entry
    successors = entry.last_op.successors
    return successors[_RESUME if len(successors) > 1 else 0]


def _guard_division(op: Operation, divisor: SSAValue) -> None:
    if constant_value(divisor) not in (None, 0) or not _is_scalar(divisor):
        return
    emit = Emitter.in_front_of(op)
    assert isinstance(divisor.type, IntegerType | IndexType)
    zero = emit(arith.ConstantOp(IntegerAttr(0, divisor.type))).result
    emit(cf.AssertOp(emit(arith.CmpiOp(divisor, zero, "ne")).result, "division by zero"))


def _is_scalar(value: SSAValue) -> bool:
    return isinstance(value.type, IntegerType | IndexType)


def _guard_access(op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
    assert isinstance(buffer.type, MemRefType)
    for dimension, (index, size) in enumerate(zip(indices, buffer.type.get_shape(), strict=True)):
        number = constant_value(index)
        if number is not None and size != DYNAMIC_INDEX and 0 <= number < size:
            continue
        emit = Emitter.in_front_of(op)
        limit = _size(emit, buffer, dimension, size)
        # Unsigned: a negative index is a very large one.
        inside = emit(arith.CmpiOp(index, limit, "ult")).result
        emit(cf.AssertOp(inside, f"index {dimension} is out of bounds"))


def _size(emit: Emitter, buffer: SSAValue, dimension: int, size: int) -> SSAValue:
    if size != DYNAMIC_INDEX:
        return emit(arith.ConstantOp(IntegerAttr(size, IndexType()))).result
    number = emit(arith.ConstantOp(IntegerAttr(dimension, IndexType()))).result
    return emit(memref.DimOp(buffer, number)).result
