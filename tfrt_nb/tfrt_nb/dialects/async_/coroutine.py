"""Coroutine operations: one for each of LLVM's switched-resume intrinsics."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Block, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    successor_def,
    traits_def,
)
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.async_.types import CoroHandleType, CoroIdType, CoroStateType
from tfrt_nb.dialects.fast_ir import PlainOp, initialize


@irdl_op_definition
class CoroIdOp(PlainOp):
    """Names the coroutine; the first coroutine operation of its function."""

    name = "async.coro.id"
    id = result_def(CoroIdType())
    RESULTS: ClassVar = (CoroIdType(),)

    assembly_format = "attr-dict"


@irdl_op_definition
class CoroBeginOp(PlainOp):
    """Allocates the frame and gives its handle."""

    name = "async.coro.begin"
    id = operand_def(CoroIdType())
    handle = result_def(CoroHandleType())
    RESULTS: ClassVar = (CoroHandleType(),)

    assembly_format = "$id attr-dict"


@irdl_op_definition
class CoroFreeOp(PlainOp):
    """Frees the frame.  Nothing that lives in it may be used afterwards."""

    name = "async.coro.free"
    id = operand_def(CoroIdType())
    handle = operand_def(CoroHandleType())

    assembly_format = "$id `,` $handle attr-dict"


@irdl_op_definition
class CoroEndOp(PlainOp):
    """The point from which both a suspended and a finished coroutine return to the caller."""

    name = "async.coro.end"
    handle = operand_def(CoroHandleType())

    assembly_format = "$handle attr-dict"


@irdl_op_definition
class CoroSaveOp(PlainOp):
    """Fixes where the coroutine goes on.  From here on another thread may resume it."""

    name = "async.coro.save"
    handle = operand_def(CoroHandleType())
    state = result_def(CoroStateType())
    RESULTS: ClassVar = (CoroStateType(),)

    assembly_format = "$handle attr-dict"


@irdl_op_definition
class CoroSuspendOp(IRDLOperation):
    """Leaves the function through `suspend`; control comes back at `resume` (or `cleanup`).

    A coroutine that was resumed since its state was saved goes to `resume` at once.
    """

    name = "async.coro.suspend"
    state = operand_def(CoroStateType())
    suspend = successor_def()
    resume = successor_def()
    cleanup = successor_def()

    traits = traits_def(IsTerminator())

    assembly_format = "$state `,` $suspend `,` $resume `,` $cleanup attr-dict"

    def __init__(self, state: SSAValue, suspend: Block, resume: Block, cleanup: Block) -> None:
        initialize(self, operands=[state], successors=[suspend, resume, cleanup])
