"""Reject programs that verify, but that cannot be compiled or would harm the process.

- The payload of a value must not be an async object, because the reference in it would not be
  counted.
- Operations of coroutines must be in functions that are coroutines with all their blocks, and ids
  and saved states must stay where they are created.
- A task must not capture a buffer of `memref.alloca`, because the task may run after the buffer is
  gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.runtime import CoroBeginOp, CoroIdOp, CoroSaveOp, CoroSuspendOp
from tfrt_nb.dialects.async_.tasks import ExecuteOp
from tfrt_nb.dialects.async_.types import (
    CoroHandleType,
    CoroIdType,
    CoroStateType,
    GroupType,
    TokenType,
    ValueType,
)
from tfrt_nb.passes.control_flow import fail, operations_in
from tfrt_nb.passes.lowering.coroutines import PRESPLIT
from tfrt_nb.passes.lowering.outline import captured_values

_COROUTINE = CoroIdType | CoroStateType


@dataclass(frozen=True)
class CheckAsync(ModulePass):
    """Checks the module without changing it."""

    name: ClassVar[str] = "async-check"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in operations_in(op):
            if nested.results or nested.regions:
                _check_payloads(nested)
            if nested.name.startswith("async.coro."):
                _check_coroutine_operation(nested)
            if type(nested) is ExecuteOp:
                _check_captures(nested)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.attributes.get("passthrough") == PRESPLIT:
                _check_coroutine(function)


def _check_payloads(op: Operation) -> None:
    for type_ in (*op.result_types, *_argument_types(op)):
        if isinstance(type_, ValueType) and isinstance(
            type_.value_type, TokenType | ValueType | GroupType | CoroHandleType | _COROUTINE
        ):
            fail(op, f"'{type_}' cannot be compiled: await the inner object where it is made")


def _argument_types(op: Operation) -> Iterator[Attribute]:
    for region in op.regions:
        for block in region.blocks:
            yield from block.arg_types
            if any(isinstance(type_, _COROUTINE) for type_ in block.arg_types):
                fail(op, "ids and states of coroutines cannot be passed to blocks and functions")


def _check_coroutine_operation(op: Operation) -> None:
    function = op.parent_op()
    if not isinstance(function, FuncOp) or function.attributes.get("passthrough") != PRESPLIT:
        fail(
            op,
            f"'{op.name}' can only be used directly in a function with the attribute "
            'passthrough = ["presplitcoroutine"]',
        )


def _check_coroutine(function: FuncOp) -> None:
    """Check what LLVM assumes: one id, one frame made first, states used where they are saved.

    See https://llvm.org/docs/Coroutines.html.
    """
    for kind in (CoroIdOp, CoroBeginOp):
        if sum(isinstance(op, kind) for op in function.body.walk()) != 1:
            fail(function, f"a coroutine has one '{kind.name}'")
    for block in function.body.blocks:
        for op in block.ops:
            if isinstance(op, CoroBeginOp) and block is not function.body.blocks[0]:
                fail(op, f"'{op.name}' must be in the first block")
            if isinstance(op, CoroSuspendOp):
                saved = op.state.owner
                if not isinstance(saved, CoroSaveOp) or saved.parent is not block:
                    fail(op, "a coroutine is suspended in the block that saves its state")


def _check_captures(task: ExecuteOp) -> None:
    for value in captured_values(task.body):
        if isinstance(value.type, _COROUTINE):
            fail(task, f"a task cannot capture '{value.type}'")
        if not isinstance(value.owner, Block) and isinstance(value.owner, memref.AllocaOp):
            fail(
                task,
                "a task cannot capture a buffer of 'memref.alloca', which is gone when the "
                "function returns: use 'memref.alloc'",
            )
