"""Lower tasks and asynchronous functions to coroutines, and awaits to suspensions.

    %t = async.execute { "work"() async.yield }   %t = call @async_execute_fn() : () -> !async.token
    async.await %t : !async.token              => async.runtime.await %t : !async.token
                                                  (and an assertion that %t is not in error)

The pass moves each task body into a function, inner bodies first. The body starts cold: a worker
runs it from its first operation. An await in a body suspends the body, and an await in a plain
function blocks the thread.

The pass leaves only operations of the runtime and the coroutine level, and `async.func`,
`async.call` and `async.return`, which `async-func-to-async-runtime` lowers earlier. MLIR's pass is
described at https://mlir.llvm.org/docs/Passes/#-async-to-async-runtime.

The pass `async-func-to-async-runtime` turns asynchronous functions into coroutines that start on
the caller's thread.

    async.func @f(%x: i32) -> !async.value<i32> {      func.func @f(%x: i32) -> !async.value<i32> {
      %v = async.call @g(%x) : ...                       (entry of a coroutine)
      %y = async.await %v : !async.value<i32>      =>    %v = call @g(%x) : ...
      return %y : i32                                    (suspend until %v, resolve the result)
    }                                                  }

This pass runs before `async-to-async-runtime`, which lowers the tasks in asynchronous functions and
the awaits everywhere else. The pass rejects a call to a function that the module only declares,
because no other file could define that function. MLIR's pass is described at
https://mlir.llvm.org/docs/Passes/#-async-func-to-async-runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_ import proposal
from tfrt_nb.dialects.async_.extensions import RuntimeCheckOp
from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp
from tfrt_nb.dialects.async_.proposal import ReturnHandleOp
from tfrt_nb.dialects.async_.runtime import (
    AddRefOp,
    DropRefOp,
    RuntimeAddRefOp,
    RuntimeAddToGroupOp,
    RuntimeAwaitOp,
    RuntimeCreateGroupOp,
    RuntimeDropRefOp,
    RuntimeIsErrorOp,
    RuntimeLoadOp,
)
from tfrt_nb.dialects.async_.tasks import (
    AddToGroupOp,
    AwaitAllOp,
    AwaitOp,
    CreateGroupOp,
    ExecuteOp,
    YieldOp,
)
from tfrt_nb.dialects.async_.types import ValueType, operations_of
from tfrt_nb.passes.control_flow import Emitter, erase, exchange, fail, operations_in, replace
from tfrt_nb.passes.lowering.call_graph import callees, recursive_functions
from tfrt_nb.passes.lowering.coroutines import (
    Coroutine,
    ErrorStyle,
    begin_coroutine,
    given_results,
    outside_tasks,
    resolve,
    resolve_by_hand,
    start_cold,
    start_hot,
    start_hot_if_stack_allows,
    suspend_at_awaits,
)
from tfrt_nb.passes.lowering.outline import (
    Outliner,
    Symbols,
    TaskCounts,
    counts_tasks,
    write_out_handed_on,
)

_FAILED = "Awaited async operand is in error state"
_LOWERED = frozenset({AwaitOp, AwaitAllOp, CreateGroupOp, AddToGroupOp, AddRefOp, DropRefOp})
_PROPOSAL = frozenset(operations_of(proposal))


@dataclass(frozen=True)
class AsyncToAsyncRuntime(ModulePass):
    """Lowers tasks, awaits and groups.

    `share_bodies` builds one coroutine per distinct body. The other options depart from MLIR. With
    `token_last`, an error resolves the token after the values. With `keep_errors`, an error says
    why and where it occurred. With `spawn`, the code that starts a task creates the task's results
    and passes them to the new coroutine, and a task whose body never waits is not a coroutine. If a
    program counts references at its tasks, its tasks are not spawned, because such counts assume
    that a task's body holds the objects that it awaits.
    """

    name: ClassVar[str] = "async-to-async-runtime"

    share_bodies: bool = False
    token_last: bool = False
    keep_errors: bool = False
    spawn: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        style = ErrorStyle(self.token_last, self.keep_errors)
        counts = None
        if counts_tasks(op):
            # Operations of the proposal become tasks and awaits. A later pass would then take the
            # program's lowered counts for additional ones.
            proposed = next((one for one in operations_in(op) if type(one) in _PROPOSAL), None)
            if proposed is not None:
                reason = "before counts are lowered: run async-desugar-proposal first"
                fail(proposed, f"'{proposed.name}' must be replaced {reason}")
            write_out_handed_on(op)
            counts = TaskCounts(op)
        outliner = Outliner(Symbols(op), self.share_bodies, self.spawn and counts is None, counts)
        has_tasks = any(type(nested) is ExecuteOp for nested in operations_in(op))
        # Process inner tasks first, so that an outer body contains calls instead of tasks when it
        # is outlined.
        walk = list(op.walk(region_first=True)) if has_tasks else ()
        for task in [nested for nested in walk if isinstance(nested, ExecuteOp)]:
            function = outliner.outline(task)
            if function is not None:
                _make_coroutine(function, style)
        for nested in [nested for nested in operations_in(op) if type(nested) in _LOWERED]:
            _lower(nested, style)


def _make_coroutine(function: PlainFuncOp, style: ErrorStyle) -> None:
    coroutine = begin_coroutine(function, style)
    # A spawned task already runs on a worker, so its coroutine starts immediately.
    if given_results(function):
        start_hot(coroutine)
    else:
        start_cold(coroutine)
    # Inner tasks are already outlined, so every yield belongs to this function.
    for op in list(function.body.walk()):
        if isinstance(op, YieldOp):
            resolve(coroutine, op)
    suspend_at_awaits(coroutine)


def _lower(op: Operation, style: ErrorStyle) -> None:
    match op:
        case AwaitOp() | AwaitAllOp():
            _block_at_await(op, style)
        case CreateGroupOp():
            exchange(op, RuntimeCreateGroupOp(op.size))
        case AddToGroupOp():
            exchange(op, RuntimeAddToGroupOp(op.operand, op.group))
        case AddRefOp() | DropRefOp():
            kind = RuntimeAddRefOp if isinstance(op, AddRefOp) else RuntimeDropRefOp
            counting = kind(op.operand, op.count.value.data)
            counting.attributes |= op.attributes
            exchange(op, counting)


def _block_at_await(op: AwaitOp | AwaitAllOp, style: ErrorStyle) -> None:
    """Replace an await in a plain function with code that blocks until the object is resolved.

    The function fails if the object is an error.
    """
    emit = Emitter.in_front_of(op)
    awaited = op.operand
    emit(RuntimeAwaitOp(awaited))
    if style.keep:
        emit(RuntimeCheckOp(awaited))
    else:
        failed = emit(RuntimeIsErrorOp(awaited)).is_error
        succeeded = emit(arith.XOrIOp(failed, emit.integer(1, i1))).result
        emit(cf.AssertOp(succeeded, _FAILED))
    payload = [emit(RuntimeLoadOp(awaited)).result] if isinstance(awaited.type, ValueType) else []
    replace(op, payload)


@dataclass(frozen=True)
class AsyncFuncToAsyncRuntime(ModulePass):
    """Lowers `async.func`, `async.call` and `async.return`.

    `token_last` and `keep_errors` have the same meaning as in `async-to-async-runtime`. With
    `bounded_stack`, which departs from MLIR, a recursive function starts on a worker if little
    stack is left.
    """

    name: ClassVar[str] = "async-func-to-async-runtime"

    token_last: bool = False
    keep_errors: bool = False
    bounded_stack: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        calls = [nested for nested in operations_in(op) if type(nested) is CallOp]
        called = {call.callee.root_reference.data for call in calls}
        for one in list(op.body.block.ops):
            if isinstance(one, FuncOp) and one.is_declaration:
                if one.sym_name.data in called:
                    fail(one, f"async function '{one.sym_name.data}' is declared but not defined")
                erase(one)
        for call in calls:
            exchange(call, PlainCallOp(call.callee, call.operands_, call.results_.types))
        style = ErrorStyle(self.token_last, self.keep_errors)
        bounded = recursive_functions(callees(op)) if self.bounded_stack else set()
        for function in [nested for nested in op.body.block.ops if isinstance(nested, FuncOp)]:
            is_bounded = function.sym_name.data in bounded
            _lower_async_function(
                function, style, start_hot_if_stack_allows if is_bounded else start_hot
            )


def _lower_async_function(
    function: FuncOp, style: ErrorStyle, start: Callable[[Coroutine], None]
) -> None:
    plain = PlainFuncOp(
        function.sym_name.data,
        function.function_type,
        function.detach_region(function.body),
        function.sym_visibility,
        arg_attrs=function.arg_attrs,
        res_attrs=function.res_attrs,
    )
    plain.attributes |= function.attributes
    plain.location = function.location
    coroutine = begin_coroutine(plain, style)
    # This adds operations to the entry block, so it must precede `start`, which ends that block.
    if handles := [op for op in plain.walk() if isinstance(op, ReturnHandleOp)]:
        resolve_by_hand(coroutine, handles)
    start(coroutine)
    for op in list(outside_tasks(plain.body)):
        if isinstance(op, ReturnOp):
            resolve(coroutine, op)
    suspend_at_awaits(coroutine)
    exchange(function, plain)
