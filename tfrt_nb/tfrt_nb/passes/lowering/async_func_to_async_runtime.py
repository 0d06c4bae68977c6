"""Lower asynchronous functions to coroutines that start on the caller's thread.

    async.func @f(%x: i32) -> !async.value<i32> {      func.func @f(%x: i32) -> !async.value<i32> {
      %v = async.call @g(%x) : ...                       (entry of a coroutine)
      %y = async.await %v : !async.value<i32>      =>    %v = call @g(%x) : ...
      return %y : i32                                    (suspend until %v, resolve the result)
    }                                                  }

The pass runs before `async-to-async-runtime`, which lowers the tasks in these functions, and awaits
in tasks and plain functions. A declaration that is called is rejected because no other file could
provide its definition. MLIR's pass is described at
https://mlir.llvm.org/docs/Passes/#-async-func-to-async-runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp
from tfrt_nb.dialects.async_.proposal import ReturnHandleOp
from tfrt_nb.passes.control_flow import erase, exchange, fail, operations_in
from tfrt_nb.passes.lowering.call_graph import callees, recursive_functions
from tfrt_nb.passes.lowering.coroutines import (
    Coroutine,
    ErrorStyle,
    begin_coroutine,
    outside_tasks,
    resolve,
    resolve_by_hand,
    start_hot,
    start_hot_if_stack_allows,
    suspend_at_awaits,
)


@dataclass(frozen=True)
class AsyncFuncToAsyncRuntime(ModulePass):
    """Lowers `async.func`, `async.call` and `async.return`.

    `token_last` and `keep_errors` are those of `async-to-async-runtime`. `bounded_stack` departs
    from MLIR: a recursive function starts on a worker if the stack is low.
    """

    name: ClassVar[str] = "async-func-to-async-runtime"

    token_last: bool = False
    keep_errors: bool = False
    bounded_stack: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _refuse_declarations(op)
        for call in [nested for nested in operations_in(op) if type(nested) is CallOp]:
            plain = PlainCallOp(call.callee, call.operands_, call.results_.types)
            exchange(call, plain)
        style = ErrorStyle(self.token_last, self.keep_errors)
        bounded = recursive_functions(callees(op)) if self.bounded_stack else set()
        for function in [nested for nested in op.body.block.ops if isinstance(nested, FuncOp)]:
            is_bounded = function.sym_name.data in bounded
            _lower(function, style, start_hot_if_stack_allows if is_bounded else start_hot)


def _refuse_declarations(module: ModuleOp) -> None:
    """Reject declarations that are called, and erase the others."""
    called = {op.callee.root_reference.data for op in operations_in(module) if type(op) is CallOp}
    for op in list(module.body.block.ops):
        if isinstance(op, FuncOp) and op.is_declaration:
            if op.sym_name.data in called:
                fail(op, f"async function '{op.sym_name.data}' is declared but not defined")
            erase(op)


def _lower(function: FuncOp, style: ErrorStyle, start: Callable[[Coroutine], None]) -> None:
    plain = _plain_function(function)
    coroutine = begin_coroutine(plain, style)
    if handles := [op for op in plain.walk() if isinstance(op, ReturnHandleOp)]:
        resolve_by_hand(coroutine, handles)
    start(coroutine)
    for op in list(outside_tasks(plain.body)):
        if isinstance(op, ReturnOp):
            resolve(coroutine, op)
    suspend_at_awaits(coroutine)
    exchange(function, plain)


def _plain_function(function: FuncOp) -> PlainFuncOp:
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
    return plain
