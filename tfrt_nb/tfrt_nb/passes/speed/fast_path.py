"""Run recursive async functions as plain calls until they have to wait.

    async.func @fib(%n: i64) -> !async.value<i64> {
      ...
      %v = async.call @fib(%a) : ...
      %w = async.call @fib(%b) : ...
      %x = async.await %v : ...
      %y = async.await %w : ...
      %r = arith.addi %x, %y : i64
      return %r : i64
    }

becomes a plain function, the fast path. The fast path returns the payloads of the async function's
results. If a payload is not known yet, it returns a handle for the result instead. A handle is a
number that represents an object; 0 means that there is no object.

    func.func private @fib_fast(%n: i64) -> (i64, i64) attributes {fast_path = [!async.value<i64>]}
    {
      ...
      %t, %x = call @fib_fast(%a) : (i64) -> (i64, i64)
      (continue if %t is 0, else
         %v = async.runtime.from_handle %t : !async.value<i64>
         %w = async.call @fib(%b) : ...
         %f = async.call @fib_continuation(%v, %w) : ...
         return async.runtime.handle_of %f, any payload)
      %u, %y = call @fib_fast(%b) : (i64) -> (i64, i64)
      (continue if %u is 0, else make a value of %x, take the object of %u, and leave by
       @fib_continuation, too)
      %r = arith.addi %x, %y : i64
      return 0, %r : i64, i64
    }

`@fib_continuation` is the rest of the function, from the first await after the call. It is an async
function that takes the values that the rest needs:

    async.func private @fib_continuation(%v: !async.value<i64>, %w: !async.value<i64>) ->
    !async.value<i64> {
      %x = async.await %v : ...
      %y = async.await %w : ...
      %r = arith.addi %x, %y : i64
      return %r : i64
    }

Therefore, the caller never blocks, and the continuation waits where the function would have waited.
Operations before that await run unchanged, on objects. `@fib` itself calls `@fib_fast` and, if that
returns a handle, awaits the handle's object. The first handles appear when little stack is left. At
that point, the fast path calls `@fib`, which continues on a worker.

A fast path that fails returns handles of objects that are errors, so that the failure appears where
the function is awaited.

The pass skips three kinds of functions:

- functions that await anything except calls to functions with a fast path, because they would leave
  the fast path again and again;
- functions with such a call in a loop, because their continuations would need the loop's state;
- functions whose continuations would take long to compile.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref, ub
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
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
    RuntimeFromHandleOp,
    RuntimeHandleOfOp,
    RuntimeStackIsLowOp,
)
from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp
from tfrt_nb.dialects.async_.proposal import ReturnHandleOp
from tfrt_nb.dialects.async_.runtime import (
    RuntimeAwaitOp,
    RuntimeCreateOp,
    RuntimeSetAvailableOp,
    RuntimeStoreOp,
)
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp
from tfrt_nb.dialects.async_.types import GroupType, TokenType, ValueType
from tfrt_nb.passes.control_flow import (
    Emitter,
    block_of,
    blocks_behind,
    choose,
    copied,
    erase,
    leave,
    region_of,
    replace,
    split_behind,
)
from tfrt_nb.passes.control_flow import call as call_of
from tfrt_nb.passes.lowering.await_in_calls import FAST_PATH
from tfrt_nb.passes.lowering.call_graph import callees, recursive_functions
from tfrt_nb.passes.lowering.coroutines import make_single_level, outside_tasks
from tfrt_nb.passes.lowering.outline import (
    Symbols,
    captured_values,
    replace_uses_inside,
    sink_constants,
)

SELDOM = "seldom"
"""The attribute of a function that rarely runs."""
_OBJECTS = TokenType | ValueType | GroupType
_MAX_COPIED = 200
"""The maximum number of operations in all continuations of a function.

LLVM compiles these operations twice.
"""
_PINNED = frozenset({AwaitAllOp, RuntimeAwaitOp, ReturnHandleOp, memref.AllocaOp})
"""The operations that a function with a fast path must not contain.

For instance, a buffer in the function's frame would not exist in the continuation.
"""


@dataclass(frozen=True)
class FastPath(ModulePass):
    """Gives recursive async functions a form that creates no objects until it must wait."""

    name: ClassVar[str] = "async-fast-path"

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
        fast = {name: _declare(function, symbols) for name, function in chosen.items()}
        for name, function in chosen.items():
            _FastPathMaker(op, function, fast, symbols).run()
            op.body.block.add_op(fast[name])


def _is_leavable(function: FuncOp) -> bool:
    return not (
        function.is_declaration
        # A payload that is an object can be loaded only once, because the load takes over its
        # reference.
        or any(isinstance(type_, _OBJECTS) for type_ in function.payload_types)
        or any(type(op) in _PINNED for op in outside_tasks(function.body))
    )


def _chosen(functions: dict[str, FuncOp]) -> dict[str, FuncOp]:
    """Return the functions that get a fast path.

    They call each other, wait for nothing else, and can leave the fast path at every call.
    """
    for function in functions.values():
        make_single_level(function.body, lambda op: type(op) is AwaitOp or type(op) is CallOp)
    # After a function is dropped, other functions may call or await it, so repeat until nothing
    # changes.
    while True:
        kept = {n: f for n, f in functions.items() if _is_worth_while(f, functions)}
        if len(kept) == len(functions):
            return kept
        functions = kept


def _is_worth_while(function: FuncOp, chosen: dict[str, FuncOp]) -> bool:
    calls = _calls(function, chosen)
    if not calls or any(
        isinstance(op, AwaitOp) and op.operand.owner not in calls
        for op in outside_tasks(function.body)
    ):
        return False
    copies = 0
    for call in calls:
        # A continuation of a call in a loop would need the loop's state.
        if block_of(call) in blocks_behind(block_of(call)):
            return False
        copies += len(_up_to_the_continuation(call))
    # Calls whose continuations start at the same operation share one continuation.
    for start in {_start_of_continuation(call) for call in calls}:
        copies += sum(1 for _ in _operations_from(start))
        copies += sum(1 for block in blocks_behind(block_of(start)) for _ in block.ops)
    return copies <= _MAX_COPIED


def _start_of_continuation(call: CallOp) -> Operation:
    """Return the first await after the call in its block, or the operation after the call."""
    following = call.next_op
    assert following is not None
    return next((op for op in _operations_from(following) if type(op) is AwaitOp), following)


def _up_to_the_continuation(call: CallOp) -> list[Operation]:
    start, following = _start_of_continuation(call), call.next_op
    assert following is not None
    return list(itertools.takewhile(lambda op: op is not start, _operations_from(following)))


def _calls(function: FuncOp, chosen: dict[str, FuncOp] | dict[str, PlainFuncOp]) -> list[CallOp]:
    """Return the calls to functions in `chosen` whose results are only awaited."""
    return [
        op
        for block in function.body.blocks
        for op in block.ops
        if isinstance(op, CallOp)
        and op.callee.root_reference.data in chosen
        # After `make_single_level`, only the awaits of tasks are in other regions.
        and all(
            type(use.operation) is AwaitOp and use.operation.parent_region() is function.body
            for result in op.results_
            for use in result.uses
        )
    ]


def _declare(function: FuncOp, symbols: Symbols) -> PlainFuncOp:
    """Declare the fast path of a function, without a body."""
    objects = function.function_type.outputs.data
    type_ = FunctionType.from_lists(
        function.function_type.inputs.data, [*(i64 for _ in objects), *function.payload_types]
    )
    name = symbols.fresh(f"{function.sym_name.data}_fast")
    fast = PlainFuncOp(name, type_, Region(), StringAttr("private"))
    fast.attributes[FAST_PATH] = ArrayAttr(objects)
    fast.location = function.location
    return fast


@dataclass(frozen=True, slots=True)
class _Continuation:
    """The name of a continuation, and the values it takes from the original function."""

    symbol: str
    captured: list[SSAValue]


@dataclass(frozen=True, slots=True)
class _Exit:
    """A call after which the fast path may have to stop."""

    call: CallOp
    before_continuation: list[Operation]
    continuation: _Continuation


class _FastPathMaker:
    """Builds the fast path of one function, and its continuations."""

    def __init__(
        self, module: ModuleOp, function: FuncOp, fast: dict[str, PlainFuncOp], symbols: Symbols
    ) -> None:
        self.module = module
        self.function = function
        self.fast = fast
        self.symbols = symbols
        self.own = fast[function.sym_name.data]
        self.continuations: dict[Operation, _Continuation] = {}
        self.payloads: dict[SSAValue, SSAValue | None] = {}

    def run(self) -> None:
        """Move the function's body to the fast path, and give the function a body that calls it."""
        calls = _calls(self.function, self.fast)
        # Copy the continuations before the body changes, because they need the original calls.
        exits = [
            _Exit(call, _up_to_the_continuation(call), self._continuation_behind(call))
            for call in calls
        ]
        called = [self._call_fast(call) for call in calls]
        for exit_, plain in zip(exits, called, strict=True):
            self._leave_with_handle(exit_, plain)
        # Erase calls only now, because an exit copies the calls between its own call and the
        # continuation.
        for call in calls:
            self._forget(call)
        self._return_without_handles()
        self._leave_where_the_stack_ends()
        self.function.detach_region(self.function.body).move_blocks(self.own.body)
        self.function.add_region(_calling(self.own, self.function))

    def _continuation_behind(self, call: CallOp) -> _Continuation:
        start = _start_of_continuation(call)
        if start not in self.continuations:
            symbol = self.symbols.fresh(f"{self.function.sym_name.data}_continuation")
            continuation, captured = _continuation_of(self.function, start, symbol)
            continuation.attributes[SELDOM] = UnitAttr()
            self.module.body.block.add_op(continuation)
            self.continuations[start] = _Continuation(symbol, captured)
        return self.continuations[start]

    def _call_fast(self, call: CallOp) -> PlainCallOp:
        fast = self.fast[call.callee.root_reference.data]
        plain = Emitter.in_front_of(call)(call_of(fast, call.operands_))
        payloads = iter(plain.res[len(call.results_) :])
        for result in call.results_:
            has_payload = isinstance(result.type, ValueType)
            self.payloads[result] = next(payloads) if has_payload else None
        return plain

    def _leave_with_handle(self, exit_: _Exit, plain: PlainCallOp) -> None:
        """Branch after the call: continue, or pass the handles' objects to the continuation."""
        call = exit_.call
        _, continuation = split_behind(call)
        left = Block()
        self.function.body.insert_block_before(left, continuation)
        # A fast path returns all its handles or none, so the first handle decides.
        _unless_zero(Emitter.in_front_of(call), plain.res[0], left, continuation)
        emit = Emitter.at_end(left, call.location)
        values: dict[SSAValue, SSAValue] = {
            result: emit(RuntimeFromHandleOp(handle, result.type)).result
            # The payloads follow the handles, so `plain.res` is longer.
            for result, handle in zip(call.results_, plain.res, strict=False)
        }
        for op in exit_.before_continuation:
            left.add_op(copied(op, values, {}))
        arguments = []
        for value in exit_.continuation.captured:
            # An earlier call may have finished already. Its payload becomes an object for the
            # continuation.
            if value not in values and value in self.payloads:
                values[value] = _resolved(emit, value.type, self.payloads[value])
            arguments.append(values.get(value, value))
        self._return_handles(emit, exit_.continuation.symbol, arguments)

    def _return_handles(self, emit: Emitter, symbol: str, arguments: Sequence[SSAValue]) -> None:
        outputs = self.function.function_type.outputs.data
        called = emit(CallOp(SymbolRefAttr(symbol), arguments, outputs))
        handles = [emit(RuntimeHandleOfOp(result)).result for result in called.results_]
        # Callers read a payload only if its handle is 0.
        unused = [emit(ub.PoisonOp(type_)).result for type_ in self.function.payload_types]
        emit(leave(*handles, *unused))

    def _forget(self, call: CallOp) -> None:
        """Erase a call and its awaits; the results of the fast path replace their payloads."""
        for result in call.results_:
            for use in list(result.uses):
                payload = self.payloads[result]
                replace(use.operation, [] if payload is None else [payload])
        erase(call)

    def _return_without_handles(self) -> None:
        count = len(self.function.function_type.outputs)
        for block in self.function.body.blocks:
            end = block.last_op
            if isinstance(end, ReturnOp):
                emit = Emitter.in_front_of(end)
                zero = emit.integer(0, i64)
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
        self._return_handles(leaving, self.function.sym_name.data, entry.args)


def _calling(fast: PlainFuncOp, function: FuncOp) -> Region:
    """Return a body for the async function.

    The body calls the fast path, and waits if the fast path returns handles.
    """
    entry, left, done = Block(arg_types=fast.function_type.inputs.data), Block(), Block()
    emit = Emitter.at_end(entry, function.location)
    call = emit(call_of(fast, entry.args))
    _unless_zero(emit, call.res[0], left, done)
    waiting = Emitter.at_end(left, function.location)
    # Turn all handles into objects before the first await. No code runs after a failed await, so
    # the references in the other handles would leak.
    objects = [
        waiting(RuntimeFromHandleOp(handle, type_)).result
        for handle, type_ in zip(call.res, function.function_type.outputs, strict=False)
    ]
    payloads = [waiting(AwaitOp(result)).result for result in objects]
    waiting(ReturnOp(*[payload for payload in payloads if payload is not None]))
    returning = Emitter.at_end(done, function.location)
    returning(ReturnOp(*call.res[len(function.function_type.outputs) :]))
    return Region([entry, left, done])


def _unless_zero(emit: Emitter, handle: SSAValue, left: Block, otherwise: Block) -> None:
    zero = emit.integer(0, i64)
    emit(choose(emit(arith.CmpiOp(handle, zero, "ne")).result, left, otherwise))


def _resolved(emit: Emitter, type_: Attribute, payload: SSAValue | None) -> SSAValue:
    """Emit an object that is already available."""
    made = emit(RuntimeCreateOp(type_)).result
    if payload is not None:
        emit(RuntimeStoreOp(payload, made))
    emit(RuntimeSetAvailableOp(made))
    return made


def _operations_from(start: Operation) -> Iterator[Operation]:
    """Yield the operations of the block, starting with `start`."""
    op: Operation | None = start
    while op is not None:
        yield op
        op = op.next_op


def _continuation_of(
    function: FuncOp, start: Operation, symbol: str
) -> tuple[FuncOp, list[SSAValue]]:
    """Return a private function that does what `function` does from `start` on.

    The second result is the list of the values that the private function takes.
    """
    block = block_of(start)
    body = _region_from(start, block, blocks_behind(block))
    captured = captured_values(body)
    if sink_constants(body, captured):
        captured = captured_values(body)
    entry = body.blocks[0]
    arguments: dict[SSAValue, SSAValue] = {}
    for value in captured:
        argument = entry.insert_arg(value.type, len(entry.args))
        argument.name_hint = value.name_hint
        arguments[value] = argument
    replace_uses_inside(body, arguments)
    type_ = FunctionType.from_lists(entry.arg_types, function.function_type.outputs.data)
    continuation = FuncOp(symbol, type_, body, StringAttr("private"))
    continuation.location = function.location
    return continuation, captured


def _region_from(start: Operation, block: Block, behind: Collection[Block]) -> Region:
    """Copy the operations from `start` on, and the blocks that may follow."""
    originals = [other for other in region_of(block).blocks if other in behind]
    copies = [Block(arg_types=original.arg_types) for original in originals]
    values: dict[SSAValue, SSAValue] = {}
    for original, copy in zip(originals, copies, strict=True):
        values.update(zip(original.args, copy.args, strict=True))
    # Copying adds the blocks in the regions of operations to `blocks`, so use a separate map.
    blocks = dict(zip(originals, copies, strict=True))
    entry = Block()
    for op in _operations_from(start):
        entry.add_op(copied(op, values, blocks))
    for original, copy in zip(originals, copies, strict=True):
        for op in original.ops:
            copy.add_op(copied(op, values, blocks))
    body = Region([entry, *copies])
    # A block may use a value from a block that was copied later.
    replace_uses_inside(body, values)
    return body
