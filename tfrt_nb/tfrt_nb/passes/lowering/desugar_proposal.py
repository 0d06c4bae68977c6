"""Replace the operations of the 2020 proposal with the operations that MLIR adopted.

    func @f(%rt: !async.runtime) -> !async.handle {      async.func @f() -> !async.token {
      %h = async.call %rt : !async.runtime @g() ...        %h = async.execute { func.call @g() ... }
      async.await %h                                 =>    async.await %h
      %r = async.ret_handle : !async.handle                async.return
      return %r : !async.handle                          }
    }

- Only one runtime exists, so the pass removes `async.default_runtime` and runtime arguments.
- If a function returns one handle, and its return resolves that handle, the function becomes an
  `async.func`.
- A function that waits and resolves its handle by hand also becomes an `async.func`. In that case,
  `async.ret_handle` remains. The lowering (`async-func-to-async-runtime`) turns it into the
  coroutine's token, which only the program itself resolves.
- Any other handle of `async.ret_handle` becomes an ordinary token. The program resolves it by hand,
  or the return does in a function that returns more than the handle.
- `async.region` and a call on a runtime become tasks. `async.sync_await` becomes an await outside
  tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.dialects.func import ReturnOp as PlainReturnOp
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, Region
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_ import proposal
from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp, ends_async
from tfrt_nb.dialects.async_.proposal import (
    RUNTIME,
    CallOnRuntimeOp,
    DefaultRuntimeOp,
    EmplaceHandleOp,
    ParallelForOp,
    RegionOp,
    ReturnHandleOp,
    SyncAwaitOp,
)
from tfrt_nb.dialects.async_.runtime import RuntimeCreateOp, RuntimeSetAvailableOp
from tfrt_nb.dialects.async_.tasks import AwaitOp, ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.types import TOKEN, TokenType, ValueType, operations_of
from tfrt_nb.passes.control_flow import Emitter, erase, exchange, fail, operations_in, replace
from tfrt_nb.passes.lowering.await_in_calls import waiting_functions

_OPERATIONS = frozenset(operations_of(proposal))

Functions = Mapping[str, PlainFuncOp | FuncOp]


@dataclass(frozen=True)
class DesugarProposal(ModulePass):
    """Replaces the operations of `dialects.async_.proposal`."""

    name: ClassVar[str] = "async-desugar-proposal"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not any(type(one) in _OPERATIONS for one in operations_in(op)) and not any(
            RUNTIME in function.function_type.inputs
            or (isinstance(function, PlainFuncOp) and ends_async(function))
            for function in _functions(op)
        ):
            return
        functions = {function.sym_name.data: function for function in _functions(op)}
        for nested in operations_in(op):
            if isinstance(nested, SyncAwaitOp):
                exchange(nested, AwaitOp(nested.handle))
        plain = {name: one for name, one in functions.items() if isinstance(one, PlainFuncOp)}
        # `waiting_functions` does not recognize `async.sync_await`, so those operations are
        # replaced first.
        waiting = waiting_functions(plain)
        asynchronous = {
            name for name, one in functions.items() if _is_coroutine(one, name in waiting)
        }
        for nested in operations_in(op):
            _desugar(nested, functions, asynchronous)
        for function in functions.values():
            _make_handles(function, is_coroutine=function.sym_name.data in asynchronous)
            _drop_runtime_arguments(function)
            if function.sym_name.data in asynchronous and isinstance(function, PlainFuncOp):
                body = function.detach_region(function.body)
                name, visibility = function.sym_name.data, function.sym_visibility
                exchange(function, FuncOp(name, function.function_type, body, visibility))
        for nested in operations_in(op):
            if isinstance(nested, PlainCallOp | CallOp):
                _desugar_call(nested, asynchronous)
        for nested in operations_in(op):
            if type(nested) is DefaultRuntimeOp and not nested.result.uses:
                erase(nested)
        _refuse_runtimes(op)


def _functions(module: ModuleOp) -> list[PlainFuncOp | FuncOp]:
    return [op for op in module.body.block.ops if isinstance(op, PlainFuncOp | FuncOp)]


def _is_coroutine(function: PlainFuncOp | FuncOp, waits: bool) -> bool:
    """Return whether the function is or will become an `async.func`.

    A function that does not wait and resolves its handle by hand needs no coroutine.
    """
    if isinstance(function, FuncOp) or ends_async(function):
        return True
    handles = [op for op in function.walk() if isinstance(op, ReturnHandleOp)]
    users = [use.operation for op in handles for use in op.result.uses]
    return (
        bool(handles)
        and function.function_type.outputs.data == (TOKEN,)
        and (waits or all(isinstance(user, PlainReturnOp) for user in users))
    )


def _refuse_runtimes(module: ModuleOp) -> None:
    for op in operations_in(module):
        arguments = (
            type_ for region in op.regions for block in region.blocks for type_ in block.arg_types
        )
        if type(op) is DefaultRuntimeOp or any(map(_holds_runtime, (*op.result_types, *arguments))):
            fail(
                op,
                "a runtime can only be an argument of functions, and of operations that run on it",
            )


def _holds_runtime(type_: Attribute) -> bool:
    return type_ == RUNTIME or (
        isinstance(type_, ParametrizedAttribute) and any(map(_holds_runtime, type_.parameters))
    )


def _desugar(op: Operation, functions: Functions, asynchronous: AbstractSet[str]) -> None:
    match op:
        case EmplaceHandleOp():
            exchange(op, RuntimeSetAvailableOp(op.handle))
        case CallOnRuntimeOp():
            _desugar_call_on_runtime(op, functions, asynchronous)
        case RegionOp():
            task = ExecuteOp(op.dependencies, (), op.values.types, op.detach_region(op.body))
            op.add_region(Region(Block()))
            Emitter.in_front_of(op)(task)
            replace(op, [*task.body_results, task.token])
        case ParallelForOp():
            task = ExecuteOp((), (), (), op.detach_region(op.body))
            Emitter.in_front_of(op)(task)
            replace(op, [*op.buffers, task.token])


def _desugar_call_on_runtime(
    op: CallOnRuntimeOp, functions: Functions, asynchronous: AbstractSet[str]
) -> None:
    """Build a task that calls the function and waits for the objects that the function returns."""
    name = op.callee.root_reference.data
    callee = functions[name]
    outputs = callee.function_type.outputs.data or ((TOKEN,) if name in asynchronous else ())
    if op.runtime is None and isinstance(callee, FuncOp):
        exchange(op, CallOp(op.callee, op.arguments, outputs))
        return
    body = Block()
    emit = Emitter.at_end(body, op.location)
    make = CallOp if name in asynchronous else PlainCallOp
    for result in emit(make(op.callee, op.arguments, outputs)).results:
        if isinstance(result.type, TokenType | ValueType):
            emit(AwaitOp(result))
    emit(YieldOp())
    exchange(op, ExecuteOp((), (), (), Region(body)))


def _make_handles(function: PlainFuncOp | FuncOp, *, is_coroutine: bool) -> None:
    """Replace a function's handles with tokens.

    If a handle is used only by a return, the return resolves it.
    """
    handles = [op for op in function.walk() if isinstance(op, ReturnHandleOp)]
    if is_coroutine and function.function_type.outputs.data[:1] in ((), (TOKEN,)):
        own = _return_own_handle(function, handles)
        handles = [op for op in handles if op not in own]
    for op in handles:
        if not op.result.uses:
            erase(op)
            continue
        returns = [
            use.operation for use in op.result.uses if isinstance(use.operation, PlainReturnOp)
        ]
        if len(returns) == op.result.uses.get_length():
            for end in returns:
                Emitter.in_front_of(end)(RuntimeSetAvailableOp(op.result))
        exchange(op, RuntimeCreateOp(TOKEN))


def _return_own_handle(
    function: PlainFuncOp | FuncOp, handles: Sequence[ReturnHandleOp]
) -> set[Operation]:
    """Make the function return with `async.return`, and return the set of its own handles.

    A return resolves the function's own handle unless the function also uses that handle elsewhere.
    Before a return of any other handle, the function awaits that handle.
    """
    ends = [op for op in function.walk() if isinstance(op, PlainReturnOp)]
    returned = {value.owner for end in ends for value in end.arguments}
    own: set[Operation] = {handle for handle in handles if not ends or handle in returned}
    by_hand = {
        handle
        for handle in own
        if any(not isinstance(use.operation, PlainReturnOp) for use in handle.results[0].uses)
    }
    for end in ends:
        emit = Emitter.in_front_of(end)
        for value in end.arguments:
            if value.owner not in own:
                emit(AwaitOp(value))
        if by_hand and by_hand.isdisjoint(value.owner for value in end.arguments):
            emit(RuntimeSetAvailableOp(emit(ReturnHandleOp.create(result_types=[TOKEN])).result))
        replace(end, emit(ReturnOp()).results)
    for handle in own - by_hand:
        erase(handle)
    return own


def _drop_runtime_arguments(function: PlainFuncOp | FuncOp) -> None:
    type_ = function.function_type
    inputs = [input_ for input_ in type_.inputs if input_ != RUNTIME]
    if function.body.blocks:
        entry = function.body.blocks[0]
        for argument in [argument for argument in entry.args if argument.type == RUNTIME]:
            # The placeholder keeps the uses valid until the operations on a runtime are replaced.
            stand_in = Emitter.at_start(entry, function.location)
            argument.replace_all_uses_with(
                stand_in(DefaultRuntimeOp.create(result_types=[RUNTIME])).result
            )
            entry.erase_arg(argument)
    outputs = type_.outputs.data
    if isinstance(function, FuncOp) and function.takes_runtime and not outputs:
        outputs = (TOKEN,)
    function.function_type = FunctionType.from_lists(inputs, outputs)


def _desugar_call(call: PlainCallOp | CallOp, asynchronous: AbstractSet[str]) -> None:
    make = CallOp if call.callee.root_reference.data in asynchronous else PlainCallOp
    operands = [value for value in call.operands if value.type != RUNTIME]
    if make is type(call) and len(operands) == len(call.operands):
        return
    exchange(call, make(call.callee, operands, call.result_types))
