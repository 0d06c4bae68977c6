"""LLVM's intrinsics for coroutines that a handle resumes, as MLIR spells them."""

from __future__ import annotations

from xdsl.dialects.builtin import i1, i8, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
)

from tfrt_nb.dialects.llvm.types import POINTER, TOKEN, TokenType

_CALL = "attr-dict `:` functional-type(operands, results)"


@irdl_op_definition
class CoroIdOp(IRDLOperation):
    """Names the coroutine: alignment of the promise, the promise, its own address, its parts."""

    name = "llvm.intr.coro.id"
    align = operand_def(i32)
    promise = operand_def(LLVMPointerType)
    address = operand_def(LLVMPointerType)
    parts = operand_def(LLVMPointerType)
    res = result_def(TokenType)

    assembly_format = f"$align `,` $promise `,` $address `,` $parts {_CALL}"

    def __init__(self, align: SSAValue, nothing: SSAValue) -> None:
        Operation.__init__(self, operands=[align, nothing, nothing, nothing], result_types=[TOKEN])


@irdl_op_definition
class CoroSizeOp(IRDLOperation):
    """How many bytes the frame has."""

    name = "llvm.intr.coro.size"
    res = result_def(i64)

    assembly_format = "attr-dict `:` type($res)"

    def __init__(self) -> None:
        Operation.__init__(self, result_types=[i64])


@irdl_op_definition
class CoroAlignOp(IRDLOperation):
    """How the frame is aligned."""

    name = "llvm.intr.coro.align"
    res = result_def(i64)

    assembly_format = "attr-dict `:` type($res)"

    def __init__(self) -> None:
        Operation.__init__(self, result_types=[i64])


@irdl_op_definition
class CoroBeginOp(IRDLOperation):
    """The handle of a coroutine whose frame is at `memory`."""

    name = "llvm.intr.coro.begin"
    id = operand_def(TokenType)
    memory = operand_def(LLVMPointerType)
    res = result_def(LLVMPointerType)

    assembly_format = f"$id `,` $memory {_CALL}"

    def __init__(self, id: SSAValue, memory: SSAValue) -> None:
        Operation.__init__(self, operands=[id, memory], result_types=[POINTER])


@irdl_op_definition
class CoroSaveOp(IRDLOperation):
    """Fixes where the coroutine goes on."""

    name = "llvm.intr.coro.save"
    handle = operand_def(LLVMPointerType)
    res = result_def(TokenType)

    assembly_format = f"$handle {_CALL}"

    def __init__(self, handle: SSAValue) -> None:
        Operation.__init__(self, operands=[handle], result_types=[TOKEN])


@irdl_op_definition
class CoroSuspendOp(IRDLOperation):
    """-1 when the coroutine is suspended now, 0 when it is resumed, 1 when it is destroyed."""

    name = "llvm.intr.coro.suspend"
    save = operand_def(TOKEN)
    final = operand_def(i1)
    res = result_def(i8)

    assembly_format = "$save `,` $final attr-dict `:` type($res)"

    def __init__(self, save: SSAValue, final: SSAValue) -> None:
        Operation.__init__(self, operands=[save, final], result_types=[i8])


@irdl_op_definition
class CoroFreeOp(IRDLOperation):
    """The memory of the frame, for whoever frees it."""

    name = "llvm.intr.coro.free"
    id = operand_def(TokenType)
    handle = operand_def(LLVMPointerType)
    res = result_def(LLVMPointerType)

    assembly_format = f"$id `,` $handle {_CALL}"

    def __init__(self, id: SSAValue, handle: SSAValue) -> None:
        Operation.__init__(self, operands=[id, handle], result_types=[POINTER])


@irdl_op_definition
class CoroEndOp(IRDLOperation):
    """Where both a suspended and a finished coroutine return to who runs it."""

    name = "llvm.intr.coro.end"
    handle = operand_def(LLVMPointerType)
    unwinds = operand_def(i1)
    results_token = operand_def(TokenType)
    res = result_def(i1)

    assembly_format = f"$handle `,` $unwinds `,` $results_token {_CALL}"

    def __init__(self, handle: SSAValue, unwinds: SSAValue, results_token: SSAValue) -> None:
        Operation.__init__(self, operands=[handle, unwinds, results_token], result_types=[i1])


@irdl_op_definition
class CoroResumeOp(IRDLOperation):
    """Runs a suspended coroutine on."""

    name = "llvm.intr.coro.resume"
    handle = operand_def(LLVMPointerType)

    assembly_format = "$handle attr-dict `:` type($handle)"

    def __init__(self, handle: SSAValue) -> None:
        Operation.__init__(self, operands=[handle])


OPERATIONS: list[type[Operation]] = [
    CoroIdOp,
    CoroSizeOp,
    CoroAlignOp,
    CoroBeginOp,
    CoroSaveOp,
    CoroSuspendOp,
    CoroFreeOp,
    CoroEndOp,
    CoroResumeOp,
]
