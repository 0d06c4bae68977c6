"""Reject buffers that LLVM cannot represent, and uses of deallocated buffers.

    memref.dealloc %m : memref<4xi64>
    // rejected: the memory may belong to another buffer by now
    %x = memref.load %m[%i] : memref<4xi64>

The pass finds a use that follows the deallocation in the same block or in a region nested in that
block. Any other use of a deallocated buffer is an error at run time, which `guard_buffers` and
`guard_operations` detect.

The elements of a buffer must be numbers. New memory holds arbitrary bits, and a program must not
use such bits as a buffer or an async object.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref, ub
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StridedLayoutAttr,
    UnrankedMemRefType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.async_.types import ValueType, is_async
from tfrt_nb.internal_errors import location_of
from tfrt_nb.passes.control_flow import PassError, fail, operations_in
from tfrt_runtime.diagnostics import error, note

MAX_GLOBAL_ELEMENTS = 1 << 24
"""The maximum total number of elements in a module's globals.

Memory budgets do not include globals, because globals are part of the machine code.
"""


@dataclass(frozen=True)
class CheckBuffers(ModulePass):
    """Checks the module without changing it."""

    name: ClassVar[str] = "async-check-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        elements = 0
        for nested in operations_in(op):
            for type_ in _types_of(nested):
                _check_type(nested, type_)
            if isinstance(nested, ub.PoisonOp) and is_async(nested.result):
                fail(nested, f"'{nested.name}' makes no '{nested.result.type}'")
            if isinstance(nested, arith.BitcastOp) and isinstance(
                nested.results[0].type, MemRefType | UnrankedMemRefType
            ):
                fail(nested, f"'{nested.name}' of a buffer cannot be compiled")
            if isinstance(nested, memref.GlobalOp) and isinstance(nested.type, MemRefType):
                elements += prod(nested.type.get_shape())
                if elements > MAX_GLOBAL_ELEMENTS:
                    fail(
                        nested,
                        "the global buffers of a program can have at most "
                        f"{MAX_GLOBAL_ELEMENTS} elements in total; for larger buffers, use an "
                        "allocation",
                    )
            if isinstance(nested, memref.DeallocOp):
                _check_uses_behind(nested)


def _types_of(op: Operation) -> Iterator[Attribute]:
    yield from op.result_types
    if isinstance(op, memref.GlobalOp):
        yield op.type
    if isinstance(op, FuncOp | AsyncFuncOp):
        yield from op.function_type.inputs
        yield from op.function_type.outputs
    for region in op.regions:
        for block in region.blocks:
            yield from block.arg_types


def _check_type(op: Operation, type_: Attribute) -> None:
    held = type_.value_type if isinstance(type_, ValueType) else type_
    if isinstance(held, MemRefType | UnrankedMemRefType):
        element = held.element_type
        if not isinstance(element, IntegerType | IndexType | AnyFloat):
            fail(op, f"a buffer of '{element}' cannot be compiled: its elements must be numbers")
    if isinstance(held, MemRefType) and not _is_strided(held.layout):
        fail(
            op,
            f"the layout of '{held}' cannot be compiled: a buffer must be contiguous "
            "or have a 'strided' layout",
        )


def _is_strided(layout: Attribute) -> bool:
    if isinstance(layout, AffineMapAttr):
        return layout.data == AffineMap.identity(layout.data.num_dims)
    return isinstance(layout, NoneAttr | StridedLayoutAttr)


def _check_uses_behind(op: memref.DeallocOp) -> None:
    users = {use.operation for use in op.memref.uses} - {op}
    following = op.next_op
    while following is not None and users:
        for user in (following, *operations_in(following)):
            if user in users:
                again = "deallocated again" if isinstance(user, memref.DeallocOp) else "used"
                problem = f"the buffer is {again} after it was deallocated"
                here = note("this is where it is deallocated", location_of(op))
                raise PassError(error(problem, location_of(user), [here]))
        following = following.next_op
