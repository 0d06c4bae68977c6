"""The spellings of the 2020 proposal become the operations that landed.

    func @f(%rt: !async.runtime) -> !async.handle {      async.func @f() -> !async.token {
      %h = async.call %rt : !async.runtime @g() ...        %h = async.execute { func.call @g() ... }
      async.await %h                                 =>    async.await %h
      %r = async.ret_handle : !async.handle                async.return
      return %r : !async.handle                          }
    }

- There is one runtime: `async.default_runtime` and runtime arguments go.
- A function that returns a handle made by `async.ret_handle` resolves it by returning, and is an
  `async.func`.  Where the handle is marked ready by hand it is an ordinary token that the function makes.
- `async.region` and a call on a runtime are tasks; `async.sync_await` is an await outside of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.dialects.func import ReturnOp as PlainReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp
from tfrt_nb.dialects.async_.proposal import (
    OPERATIONS,
    RUNTIME,
    CallOnRuntimeOp,
    DefaultRuntimeOp,
    EmplaceHandleOp,
    RegionOp,
    ReturnHandleOp,
    SyncAwaitOp,
)
from tfrt_nb.dialects.async_.runtime import RuntimeCreateOp, RuntimeSetAvailableOp
from tfrt_nb.dialects.async_.tasks import AwaitOp, ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.types import TOKEN
from tfrt_nb.passes.control_flow import Emitter, erase, operations_in, replace

_OPERATIONS = frozenset(OPERATIONS)


@dataclass(frozen=True)
class DesugarProposal(ModulePass):
    """Replaces the operations of `dialects.async_.proposal`."""

    name: ClassVar[str] = "async-desugar-proposal"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not _has_to_do_with_the_proposal(op):
            return
        asynchronous = {
            function.sym_name.data for function in _plain_functions(op) if _returns_handle(function)
        }
        for nested in operations_in(op):
            _desugar(nested)
        for function in _plain_functions(op):
            _drop_runtime_arguments(function)
            if function.sym_name.data in asynchronous:
                _make_async(function)
        for call in [nested for nested in operations_in(op) if type(nested) is PlainCallOp]:
            _desugar_call(call, asynchronous)
        for nested in [nested for nested in operations_in(op) if type(nested) is DefaultRuntimeOp]:
            replace(nested, nested.results)


def _has_to_do_with_the_proposal(module: ModuleOp) -> bool:
    return any(type(op) in _OPERATIONS for op in operations_in(module)) or any(
        RUNTIME in function.function_type.inputs for function in _plain_functions(module)
    )


def _plain_functions(module: ModuleOp) -> list[PlainFuncOp]:
    return [op for op in module.body.block.ops if isinstance(op, PlainFuncOp)]


def _returns_handle(function: PlainFuncOp) -> bool:
    """Whether the function's handle is resolved by returning it, not by hand."""
    handles = [op for op in function.walk() if isinstance(op, ReturnHandleOp)]
    return bool(handles) and not any(
        isinstance(use.operation, EmplaceHandleOp) for op in handles for use in op.result.uses
    )


def _desugar(op: Operation) -> None:
    match op:
        case SyncAwaitOp():
            replace(op, Emitter.in_front_of(op)(AwaitOp(op.handle)).results)
        case EmplaceHandleOp():
            replace(op, Emitter.in_front_of(op)(RuntimeSetAvailableOp(op.handle)).results)
        case CallOnRuntimeOp():
            _desugar_call_on_runtime(op)
        case RegionOp():
            _desugar_region(op)
        case _:
            pass


def _desugar_call_on_runtime(op: CallOnRuntimeOp) -> None:
    body = Block()
    emit = Emitter.at_end(body, op.location)
    emit(PlainCallOp(op.callee, op.arguments, ()))
    emit(YieldOp())
    task = ExecuteOp((), (), (), Region(body))
    replace(op, Emitter.in_front_of(op)(task).results)


def _desugar_region(op: RegionOp) -> None:
    types = op.values.types
    task = ExecuteOp(op.dependencies, (), types, op.detach_region(op.body))
    op.add_region(Region(Block()))
    Emitter.in_front_of(op)(task)
    replace(op, [*task.body_results, task.token])


def _drop_runtime_arguments(function: PlainFuncOp) -> None:
    if function.is_declaration:
        inputs = [type_ for type_ in function.function_type.inputs if type_ != RUNTIME]
        function.function_type = FunctionType.from_lists(
            inputs, function.function_type.outputs.data
        )
        return
    entry = function.body.blocks[0]
    for argument in list(entry.args):
        if argument.type == RUNTIME:
            stand_in = Emitter.at_start(entry, function.location)
            runtime = stand_in(DefaultRuntimeOp.create(result_types=[RUNTIME]))
            argument.replace_all_uses_with(runtime.results[0])
            entry.erase_arg(argument)
    function.function_type = FunctionType.from_lists(
        entry.arg_types, function.function_type.outputs.data
    )
    for op in list(function.walk()):
        if isinstance(op, ReturnHandleOp) and any(
            isinstance(use.operation, RuntimeSetAvailableOp) for use in op.result.uses
        ):
            replace(op, Emitter.in_front_of(op)(RuntimeCreateOp(TOKEN)).results)


def _make_async(function: PlainFuncOp) -> None:
    for op in [nested for nested in function.walk() if isinstance(nested, PlainReturnOp)]:
        replace(op, Emitter.in_front_of(op)(ReturnOp()).results)
    for handle in [nested for nested in function.walk() if isinstance(nested, ReturnHandleOp)]:
        erase(handle)
    body = function.detach_region(function.body)
    asynchronous = FuncOp(
        function.sym_name.data, function.function_type, body, function.sym_visibility
    )
    Emitter.in_front_of(function)(asynchronous)
    erase(function)


def _desugar_call(call: PlainCallOp, asynchronous: set[str]) -> None:
    operands = _without_runtimes(call.arguments)
    is_async = call.callee.root_reference.data in asynchronous
    if not is_async and len(operands) == len(call.arguments):
        return
    make = CallOp if is_async else PlainCallOp
    replace(call, Emitter.in_front_of(call)(make(call.callee, operands, call.res.types)).results)


def _without_runtimes(values: Sequence[SSAValue]) -> list[SSAValue]:
    return [value for value in values if value.type != RUNTIME]
