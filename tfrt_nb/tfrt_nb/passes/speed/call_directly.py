"""Calls of async functions that never wait, and whose results are only awaited, become plain calls.

    async.func @inc(%x: i64) -> !async.value<i64> {      func.func private @inc_direct(%x: i64) -> i64 {
      %y = arith.addi %x, %one : i64                       %y = arith.addi %x, %one : i64
      return %y : i64                                      return %y : i64
    }                                                    }
    ...                                             =>   async.func @inc(%x: i64) -> !async.value<i64> {
                                                           %y = call @inc_direct(%x) : (i64) -> i64
                                                           return %y : i64
                                                         }
                                                         ...
    %v = async.call @inc(%a) : ...                       %b = call @inc_direct(%a) : (i64) -> i64
    %b = async.await %v : !async.value<i64>

Such a function has run to its end when the call returns: nothing is left that could be waited for, so
there need not be objects to wait with, nor references to count.  The function stays for other uses.

A function fails where its results are awaited.  One that can fail is therefore called directly only where
the await follows the call, with nothing between them that has an effect.  A recursive function may go on
elsewhere where the stack ends, and is left alone.  A caller that waited for nothing else does not wait any
more, and can be called directly in its turn.

Runs when the checks are in place that can fail, and before the lowering to coroutines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import RuntimeLogOp
from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp
from tfrt_nb.dialects.async_.proposal import ReturnHandleOp
from tfrt_nb.dialects.async_.tasks import AwaitOp, ExecuteOp
from tfrt_nb.dialects.async_.types import GroupType, TokenType, ValueType
from tfrt_nb.passes.control_flow import Emitter, erase, exchange, leave, operations_in
from tfrt_nb.passes.control_flow import call as call_of
from tfrt_nb.passes.lowering.call_graph import (
    callees,
    callees_first,
    recursive_functions,
    with_callers,
)
from tfrt_nb.passes.lowering.coroutines import WAITING
from tfrt_nb.passes.lowering.outline import Symbols
from tfrt_nb.passes.lowering.propagate_failures import FAILING

_HOLDERS = frozenset({FuncOp, PlainFuncOp, ExecuteOp})
_OBJECTS = TokenType | ValueType | GroupType
_WITHOUT_EFFECT = frozenset({"arith", "math", "ub"})


@dataclass(frozen=True)
class CallDirectly(ModulePass):
    """Gives async functions that never wait a second form without async objects, where that is called."""

    name: ClassVar[str] = "async-call-directly"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, FuncOp)}
        if functions:
            _Caller(op, functions).run()


class _Caller:
    """Replaces calls, function by function, callees first.

    What is found in a function is kept apart from what is found in its tasks: each has a holder.
    """

    def __init__(self, module: ModuleOp, functions: dict[str, FuncOp]) -> None:
        self.module = module
        self.functions = functions
        self.symbols = Symbols(module)
        self.direct: dict[str, PlainFuncOp] = {}
        self.calls: dict[Operation, list[CallOp]] = {}
        self.waits: dict[Operation, int] = {}
        self.failing: set[str] = set()
        self.recursive: set[str] = set()

    def run(self) -> None:
        """Replace all calls that can be, and erase what has no use any more."""
        self._survey()
        if not self.calls:
            return
        self.recursive = recursive_functions(callees(self.module))
        made = {name: self.calls.get(f, []) for name, f in self.functions.items()}
        graph = {
            name: [call.callee.root_reference.data for call in calls]
            for name, calls in made.items()
        }
        for names in callees_first(graph):
            for name in names:
                self._replace_calls(made[name])
        for holder, calls in self.calls.items():
            if not isinstance(holder, FuncOp):
                self._replace_calls(calls)
        self._erase_unused()

    def _survey(self) -> None:
        """Find the calls, what waits, and which functions can fail."""
        callers: dict[str, set[str]] = {}
        for op in operations_in(self.module):
            kind = type(op)
            if kind in WAITING or kind is ReturnHandleOp:  # whose function has a token to resolve
                holder = _holder(op)
                self.waits[holder] = self.waits.get(holder, 0) + 1
                if isinstance(holder, PlainFuncOp):
                    self.failing.add(holder.sym_name.data)
            elif kind in FAILING:
                holder = _holder(op)
                if not isinstance(holder, ExecuteOp):
                    self.failing.add(_name(holder))
            elif isinstance(op, CallOp):
                self.calls.setdefault(_holder(op), []).append(op)
            elif isinstance(op, PlainCallOp):
                holder = _holder(op)
                if not isinstance(holder, ExecuteOp):
                    callers.setdefault(op.callee.root_reference.data, set()).add(_name(holder))
        self.failing = with_callers(self.failing, callers)

    def _replace_calls(self, calls: list[CallOp]) -> None:
        for call in calls:
            name = call.callee.root_reference.data
            if self._never_waits(name) and self._is_only_awaited(call, name):
                self._replace(call, name)

    def _never_waits(self, name: str) -> bool:
        function = self.functions[name]
        return not (
            self.waits.get(function)
            or name in self.recursive
            or function.is_declaration
            # A payload that is an object is loaded once: the load takes its reference.
            or any(isinstance(type_, _OBJECTS) for type_ in function.payload_types)
        )

    def _is_only_awaited(self, call: CallOp, name: str) -> bool:
        uses = [use.operation for result in call.results_ for use in result.uses]
        if not all(type(user) is AwaitOp for user in uses):
            return False
        return name not in self.failing or _is_awaited_next(call)

    def _replace(self, call: CallOp, name: str) -> None:
        direct = self._direct(name)
        emit = Emitter.in_front_of(call)
        plain = emit(call_of(direct, call.operands_))
        plain.attributes |= call.attributes
        holder = _holder(plain)
        if name in self.failing and not isinstance(holder, ExecuteOp):
            self.failing.add(_name(holder))
        awaited = call.results_[len(call.results_) - len(plain.res) :]
        payloads: dict[SSAValue, SSAValue] = dict(zip(awaited, plain.res, strict=True))
        for result in call.results_:
            for use in list(result.uses):
                wait = use.operation
                self.waits[_holder(wait)] -= 1
                for payload in wait.results:
                    payload.replace_all_uses_with(payloads[result])
                erase(wait)
        erase(call)

    def _direct(self, name: str) -> PlainFuncOp:
        if name not in self.direct:
            self.direct[name] = self._make_direct(self.functions[name])
        return self.direct[name]

    def _make_direct(self, function: FuncOp) -> PlainFuncOp:
        """A plain function with the body of the function, which calls it from now on."""
        body = function.detach_region(function.body)
        for block in body.blocks:
            end = block.last_op
            if isinstance(end, ReturnOp):
                exchange(end, leave(*end.operands_))
        type_ = FunctionType.from_lists(function.function_type.inputs.data, function.payload_types)
        direct = self.symbols.add(f"{function.sym_name.data}_direct", type_, body)
        direct.location = function.location
        entry = Block(arg_types=type_.inputs.data)
        function.add_region(Region(entry))
        emit = Emitter.at_end(entry, function.location)
        call = emit(call_of(direct, entry.args))
        emit(ReturnOp.create(operands=call.res))
        return direct

    def _erase_unused(self) -> None:
        """Private functions that were called directly everywhere."""
        called = {
            call.callee.root_reference.data
            for calls in self.calls.values()
            for call in calls
            if call.parent is not None
        }
        for name in self.direct.keys() - called:
            function = self.functions[name]
            if function.sym_visibility == StringAttr("private"):
                erase(function)


def _holder(op: Operation) -> Operation:
    """The function or task that runs the operation."""
    parent = op.parent_op()
    while parent is not None and type(parent) not in _HOLDERS:
        parent = parent.parent_op()
    assert parent is not None
    return parent


def _name(function: Operation) -> str:
    assert isinstance(function, FuncOp | PlainFuncOp)
    return function.sym_name.data


def _is_awaited_next(call: CallOp) -> bool:
    op = call.next_op
    while op is not None:
        if type(op) is AwaitOp and op.operand in call.results_:
            return True
        if op.regions or not _has_no_effect(op):
            return False
        op = op.next_op
    return False


def _has_no_effect(op: Operation) -> bool:
    is_quiet = type(op) is memref.LoadOp or type(op) is RuntimeLogOp
    return is_quiet or op.name.partition(".")[0] in _WITHOUT_EFFECT
