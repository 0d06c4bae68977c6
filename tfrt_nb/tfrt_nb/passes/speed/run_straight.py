"""Recursive async functions run straight through for as long as there is nothing to wait for.

    async.func @fib(%n: i64) -> !async.value<i64> {
      ...
      %v = async.call @fib(%a) : ...
      %w = async.call @fib(%b) : ...
      %x = async.await %v : ...
      %y = async.await %w : ...
      %r = arith.addi %x, %y : i64
      return %r : i64
    }

becomes a plain function that returns what the async function would resolve its results to, or, if that
is not known yet, a ticket for each result: an object as a number, which is 0 where there is none.

    func.func private @fib_straight(%n: i64) -> (i64, i64) attributes {straight = [!async.value<i64>]} {
      ...
      %t, %x = call @fib_straight(%a) : (i64) -> (i64, i64)
      (go on if %t is 0, else
         %v = async.runtime.redeem %t : !async.value<i64>
         %w = async.call @fib(%b) : ...
         %f = async.call @fib_rest(%v, %w) : ...
         return async.runtime.ticket_of %f, any payload)
      %u, %y = call @fib_straight(%b) : (i64) -> (i64, i64)
      (go on if %u is 0, else make a value of %x, redeem %u, and leave by @fib_rest, too)
      %r = arith.addi %x, %y : i64
      return 0, %r : i64, i64
    }

`@fib_rest` is the rest of the function from the first await behind the call on, as an async function of
what is needed there: so the caller goes on in any case, and the rest waits where the function would
have waited.  What comes before that await is done as it was, with objects.  `@fib` itself calls
`@fib_straight`, and awaits what its ticket stands for if there is one.  The first tickets come from where
the stack ends: there the straight form calls `@fib`, which goes on elsewhere.

A function that fails returns tickets of objects in error, so that it fails where it is awaited.

Functions that wait for anything else are left alone: they would be left again and again.  So are those
that call each other in loops, where a rest would have to know how far the loop has come, and those whose
rests would be long to compile.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref, ub
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import (
    RuntimeRedeemOp,
    RuntimeStackIsLowOp,
    RuntimeTicketOfOp,
)
from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp
from tfrt_nb.dialects.async_.runtime import (
    RuntimeAwaitOp,
    RuntimeCreateOp,
    RuntimeSetAvailableOp,
    RuntimeStoreOp,
)
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp
from tfrt_nb.dialects.async_.types import GroupType, TokenType, ValueType
from tfrt_nb.passes.control_flow import Emitter, choose, erase, leave, replace
from tfrt_nb.passes.lowering.awaiting import make_single_level, outside_tasks
from tfrt_nb.passes.lowering.call_graph import callees, recursive_functions
from tfrt_nb.passes.lowering.outline import Symbols
from tfrt_nb.passes.lowering.propagate_failures import STRAIGHT
from tfrt_nb.passes.speed.rests import blocks_behind, copied, operations_from, rest_of

SELDOM = "seldom"
"""The attribute of a function that hardly ever runs."""
_OBJECTS = TokenType | ValueType | GroupType
_MOST_COPIED = 200
"""So many operations in all rests of a function are worth compiling again."""
_PINNED = frozenset({AwaitAllOp, RuntimeAwaitOp, memref.AllocaOp})
"""What a function that may be left in the middle does not contain: a buffer in its frame would be gone."""


@dataclass(frozen=True)
class RunStraight(ModulePass):
    """Gives recursive async functions a form that makes no objects until it has to wait."""

    name: ClassVar[str] = "async-run-straight"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, FuncOp)}
        if not functions:
            return
        recursive = functions.keys() & recursive_functions(callees(op))
        names = [name for name in functions if name in recursive]
        chosen = _chosen({name: functions[name] for name in names if _is_leavable(functions[name])})
        if not chosen:
            return
        symbols = Symbols(op)
        straight = {name: _declare(function, symbols) for name, function in chosen.items()}
        for name, function in chosen.items():
            _Straightener(op, function, straight, symbols).run()
            op.body.block.add_op(straight[name])


def _is_leavable(function: FuncOp) -> bool:
    return not (
        function.is_declaration
        # A payload that is an object is loaded once: the load takes its reference.
        or any(isinstance(type_, _OBJECTS) for type_ in function.payload_types)
        or any(type(op) in _PINNED for op in outside_tasks(function.body))
    )


def _chosen(functions: dict[str, FuncOp]) -> dict[str, FuncOp]:
    """Those that call each other, wait for nothing else, and can be left at every call."""
    for function in functions.values():
        make_single_level(function.body, lambda op: type(op) is AwaitOp or type(op) is CallOp)
    while True:
        kept = {n: f for n, f in functions.items() if _is_worth_while(f, functions)}
        if len(kept) == len(functions):
            return kept
        functions = kept


def _is_worth_while(function: FuncOp, chosen: dict[str, FuncOp]) -> bool:
    calls = _calls(function, chosen)
    if not calls or _waits_for_others(function, calls):
        return False
    copies = 0
    for call in calls:
        assert call.parent is not None
        if call.parent in blocks_behind(call.parent):
            return False
        copies += len(_up_to_the_rest(call))
    for start in {_start_of_rest(call) for call in calls}:
        assert start.parent is not None
        copies += sum(1 for _ in operations_from(start))
        copies += sum(1 for block in blocks_behind(start.parent) for _ in block.ops)
    return copies <= _MOST_COPIED


def _start_of_rest(call: CallOp) -> Operation:
    """The first await behind the call in its block, or else what comes next."""
    following = call.next_op
    assert following is not None
    return next((op for op in operations_from(following) if type(op) is AwaitOp), following)


def _up_to_the_rest(call: CallOp) -> list[Operation]:
    start, following = _start_of_rest(call), call.next_op
    assert following is not None
    return list(itertools.takewhile(lambda op: op is not start, operations_from(following)))


def _calls(function: FuncOp, chosen: dict[str, FuncOp] | dict[str, PlainFuncOp]) -> list[CallOp]:
    """The calls of chosen functions whose results are only awaited."""
    return [
        op
        for block in function.body.blocks
        for op in block.ops
        if isinstance(op, CallOp)
        and op.callee.root_reference.data in chosen
        and all(_is_awaited_in(function.body, result) for result in op.results_)
    ]


def _waits_for_others(function: FuncOp, calls: list[CallOp]) -> bool:
    """Whether something is awaited that none of the calls gives."""
    return any(
        isinstance(op, AwaitOp) and op.operand.owner not in calls
        for op in outside_tasks(function.body)
    )


def _is_awaited_in(body: Region, value: SSAValue) -> bool:
    """Whether the value has no uses but awaits that are not in tasks."""
    users = [use.operation for use in value.uses]
    return all(type(user) is AwaitOp and user.parent_region() is body for user in users)


def _declare(function: FuncOp, symbols: Symbols) -> PlainFuncOp:
    """The straight form, still without a body."""
    objects = function.function_type.outputs.data
    type_ = FunctionType.from_lists(
        function.function_type.inputs.data, [*(i64 for _ in objects), *function.payload_types]
    )
    name = symbols.fresh(f"{function.sym_name.data}_straight")
    straight = PlainFuncOp(name, type_, Region(), StringAttr("private"))
    straight.attributes[STRAIGHT] = ArrayAttr(objects)
    straight.location = function.location
    return straight


@dataclass(frozen=True, slots=True)
class _Rest:
    """An async function, and which values of the whole function it is called with."""

    symbol: str
    captured: list[SSAValue]


@dataclass(frozen=True, slots=True)
class _Exit:
    """A call behind which the straight form may have to be left."""

    call: CallOp
    before_rest: list[Operation]
    rest: _Rest


class _Straightener:
    """Makes the straight form of one function, and the rests by which it is left."""

    def __init__(
        self, module: ModuleOp, function: FuncOp, straight: dict[str, PlainFuncOp], symbols: Symbols
    ) -> None:
        self.module = module
        self.function = function
        self.straight = straight
        self.symbols = symbols
        self.own = straight[function.sym_name.data]
        self.rests: dict[Operation, _Rest] = {}
        self.payloads: dict[SSAValue, SSAValue | None] = {}

    def run(self) -> None:
        """Move the body to the straight form, which the function calls from then on."""
        calls = _calls(self.function, self.straight)
        exits = [_Exit(call, _up_to_the_rest(call), self._rest_behind(call)) for call in calls]
        called = [self._call_straight(call) for call in calls]
        for exit_, plain in zip(exits, called, strict=True):
            self._leave_with_ticket(exit_, plain)
        for call in calls:
            self._forget(call)
        self._return_without_tickets()
        self._leave_where_the_stack_ends()
        body = self.function.detach_region(self.function.body)
        body.move_blocks(self.own.body)
        self.function.add_region(_calling(self.own, self.function))

    def _rest_behind(self, call: CallOp) -> _Rest:
        start = _start_of_rest(call)
        if start not in self.rests:
            symbol = self.symbols.fresh(f"{self.function.sym_name.data}_rest")
            rest, captured = rest_of(self.function, start, symbol)
            rest.attributes[SELDOM] = UnitAttr()
            self.module.body.block.add_op(rest)
            self.rests[start] = _Rest(symbol, captured)
        return self.rests[start]

    def _call_straight(self, call: CallOp) -> PlainCallOp:
        straight = self.straight[call.callee.root_reference.data]
        plain = Emitter.in_front_of(call)(_call(straight, call.operands_))
        payloads = iter(plain.res[len(call.results_) :])
        for result in call.results_:
            has_payload = isinstance(result.type, ValueType)
            self.payloads[result] = next(payloads) if has_payload else None
        return plain

    def _leave_with_ticket(self, exit_: _Exit, plain: PlainCallOp) -> None:
        """Behind the call: go on, or let the rest go on with what the tickets stand for."""
        call = exit_.call
        assert call.parent is not None and call.next_op is not None
        continuation = call.parent.split_before(call.next_op)
        left = Block()
        self.function.body.insert_block_before(left, continuation)
        _unless_zero(Emitter.in_front_of(call), plain.res[0], left, continuation)
        emit = Emitter.at_end(left, call.location)
        values: dict[SSAValue, SSAValue] = {}
        for result, ticket in zip(call.results_, plain.res, strict=False):
            values[result] = emit(RuntimeRedeemOp(ticket, result.type)).result
        for op in exit_.before_rest:
            left.add_op(copied(op, values, {}))
        arguments = []
        for value in exit_.rest.captured:
            if value not in values and value in self.payloads:
                values[value] = _resolved(emit, value.type, self.payloads[value])
            arguments.append(values.get(value, value))
        self._return_tickets(emit, exit_.rest.symbol, arguments)

    def _return_tickets(self, emit: Emitter, symbol: str, arguments: Sequence[SSAValue]) -> None:
        outputs = self.function.function_type.outputs.data
        called = emit(CallOp(SymbolRefAttr(symbol), arguments, outputs))
        tickets = [emit(RuntimeTicketOfOp(result)).result for result in called.results_]
        unused = [emit(ub.PoisonOp(type_)).result for type_ in self.function.payload_types]
        emit(leave(*tickets, *unused))

    def _forget(self, call: CallOp) -> None:
        """Erase a call and its awaits: the users of their payloads use what the straight form returned."""
        for result in call.results_:
            for use in list(result.uses):
                payload = self.payloads[result]
                replace(use.operation, [] if payload is None else [payload])
        erase(call)

    def _return_without_tickets(self) -> None:
        count = len(self.function.function_type.outputs)
        for block in self.function.body.blocks:
            end = block.last_op
            if isinstance(end, ReturnOp):
                emit = Emitter.in_front_of(end)
                zero = emit(arith.ConstantOp(IntegerAttr(0, i64))).result
                emit(leave(*(zero for _ in range(count)), *end.operands_))
                erase(end)

    def _leave_where_the_stack_ends(self) -> None:
        entry = self.function.body.blocks[0]
        assert entry.first_op is not None
        body = entry.split_before(entry.first_op)
        low = Block()
        self.function.body.insert_block_before(low, body)
        emit = Emitter.at_end(entry, self.function.location)
        emit(choose(emit(RuntimeStackIsLowOp()).result, low, body))
        leaving = Emitter.at_end(low, self.function.location)
        self._return_tickets(leaving, self.function.sym_name.data, entry.args)


def _calling(straight: PlainFuncOp, function: FuncOp) -> Region:
    """A body for the async function: call the straight form, and wait if there are tickets."""
    entry, left, done = Block(arg_types=straight.function_type.inputs.data), Block(), Block()
    emit = Emitter.at_end(entry, function.location)
    call = emit(_call(straight, entry.args))
    _unless_zero(emit, call.res[0], left, done)
    waiting = Emitter.at_end(left, function.location)
    # All tickets are redeemed before the first await: behind one that fails, nothing is.
    redeemed = [
        waiting(RuntimeRedeemOp(ticket, type_)).result
        for ticket, type_ in zip(call.res, function.function_type.outputs, strict=False)
    ]
    payloads = [waiting(AwaitOp(result)).result for result in redeemed]
    awaited = [payload for payload in payloads if payload is not None]
    waiting(ReturnOp(*awaited))
    returning = Emitter.at_end(done, function.location)
    returning(ReturnOp(*call.res[len(function.function_type.outputs) :]))
    return Region([entry, left, done])


def _unless_zero(emit: Emitter, ticket: SSAValue, left: Block, otherwise: Block) -> None:
    zero = emit(arith.ConstantOp(IntegerAttr(0, i64))).result
    is_ticket = emit(arith.CmpiOp(ticket, zero, "ne")).result
    emit(choose(is_ticket, left, otherwise))


def _resolved(emit: Emitter, type_: Attribute, payload: SSAValue | None) -> SSAValue:
    """An object that is available."""
    made = emit(RuntimeCreateOp(type_)).result
    if payload is not None:
        emit(RuntimeStoreOp(payload, made))
    emit(RuntimeSetAvailableOp(made))
    return made


def _call(function: PlainFuncOp, arguments: Sequence[SSAValue]) -> PlainCallOp:
    return PlainCallOp(function.sym_name.data, arguments, function.function_type.outputs.data)
