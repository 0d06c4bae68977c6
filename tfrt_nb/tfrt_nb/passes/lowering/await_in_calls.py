"""Functions that wait become async functions where tasks call them.

    func.func @get(%v: !async.value<i64>) -> i64 {     async.func private @get_async(...)
      %x = async.await %v : !async.value<i64>              -> !async.value<i64> {
      return %x : i64                                    %x = async.await %v : !async.value<i64>
    }                                                    return %x : i64
    async.execute {                               =>   }
      %x = call @get(%v) : ...                         async.execute {
      ...                                                %f = async.call @get_async(%v) : ...
    }                                                    %x = async.await %f : !async.value<i64>

In MLIR such a task blocks its thread.  A blocked thread that runs other tasks meanwhile buries what
waits on its stack, which may be what those tasks wait for; one that does not is lost.  After this
pass only code that no task runs can block, so nothing is ever buried.

Invariant: no function that tasks and async functions call on their stack waits, calls from outside
find the functions as they were.  A result that is itself an async object goes through the value of
the async function, which is loaded once: the reference in it moves to the code that loads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.dialects.func import ReturnOp as PlainReturnOp
from xdsl.ir import Attribute, Region
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp
from tfrt_nb.dialects.async_.runtime import RuntimeAwaitOp
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp, ExecuteOp
from tfrt_nb.dialects.async_.types import TokenType, ValueType
from tfrt_nb.passes.control_flow import Emitter, erase, exchange, operations_in, replace
from tfrt_nb.passes.lowering.call_graph import with_callers
from tfrt_nb.passes.lowering.coroutines import JOINS, WAITING, outside_tasks
from tfrt_nb.passes.lowering.outline import Symbols


@dataclass(frozen=True)
class AwaitInCalls(ModulePass):
    """Makes tasks suspend where a function that they call waits."""

    name: ClassVar[str] = "async-await-in-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plain = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, PlainFuncOp)}
        waiting = waiting_functions(plain)
        if waiting:
            _Suspender(op, {name: plain[name] for name in waiting}).run()


def waiting_functions(functions: Mapping[str, PlainFuncOp]) -> set[str]:
    """The names of the functions that wait themselves or call one that does."""
    callers: dict[str, set[str]] = {}
    waiting: set[str] = set()
    for name, function in functions.items():
        for op in outside_tasks(function.body):
            if type(op) in WAITING:
                waiting.add(name)
            elif isinstance(op, PlainCallOp):
                callers.setdefault(op.callee.root_reference.data, set()).add(name)
    return with_callers(waiting, callers)


class _Suspender:
    """Replaces the calls, and makes each async function when it is first called."""

    def __init__(self, module: ModuleOp, waiting: dict[str, PlainFuncOp]) -> None:
        self.module = module
        self.waiting = waiting
        self.symbols = Symbols(module)
        self.made: dict[str, FuncOp] = {}
        self.pending: list[Region] = []

    def run(self) -> None:
        self.pending += [f.body for f in self.module.body.block.ops if isinstance(f, FuncOp)]
        self.pending += [op.body for op in operations_in(self.module) if type(op) is ExecuteOp]
        while self.pending:
            for op in list(outside_tasks(self.pending.pop())):
                if isinstance(op, PlainCallOp) and op.callee.root_reference.data in self.waiting:
                    self._suspend(op)
        _erase_unused([self.waiting[name] for name in self.made], self.module)

    def _suspend(self, call: PlainCallOp) -> None:
        function = self._async_function(call.callee.root_reference.data)
        emit = Emitter.in_front_of(call)
        symbol = SymbolRefAttr(function.sym_name.data)
        called = emit(CallOp(symbol, call.arguments, function.function_type.outputs.data))
        if JOINS in call.attributes:
            following = call.next_op
            assert isinstance(following, AwaitAllOp)
            emit(RuntimeAwaitOp(called.results_[0]))
            emit(RuntimeAwaitOp(following.operand))
        awaited = [emit(AwaitOp(result)).result for result in called.results_]
        replace(call, [value for value in awaited if value is not None])

    def _async_function(self, name: str) -> FuncOp:
        if name not in self.made:
            self.made[name] = self._make(self.waiting[name])
        return self.made[name]

    def _make(self, plain: PlainFuncOp) -> FuncOp:
        body = plain.body.clone()
        for original, copied in zip(plain.body.walk(), body.walk(), strict=True):
            copied.location = original.location
        payloads = plain.function_type.outputs.data
        values: list[Attribute] = [ValueType(type_) for type_ in payloads]
        results = values or [TokenType()]
        type_ = FunctionType.from_lists(plain.function_type.inputs.data, results)
        symbol = self.symbols.fresh(f"{plain.sym_name.data}_async")
        function = FuncOp(symbol, type_, body, StringAttr("private"))
        function.location = plain.location
        self.module.body.block.add_op(function)
        for op in [op for op in outside_tasks(body) if isinstance(op, PlainReturnOp)]:
            exchange(op, ReturnOp(*op.arguments))
        self.pending.append(body)
        self.pending += [op.body for op in body.walk() if isinstance(op, ExecuteOp)]
        return function


def _erase_unused(functions: list[PlainFuncOp], module: ModuleOp) -> None:
    """Private functions without a caller, and then those that only they called."""
    while functions:
        called = {
            op.callee.root_reference.data for op in module.walk() if isinstance(op, PlainCallOp)
        }
        unused = [
            function
            for function in functions
            if function.sym_visibility == StringAttr("private")
            and function.sym_name.data not in called
        ]
        for function in unused:
            erase(function)
        functions = [f for f in functions if f not in unused] if unused else []
