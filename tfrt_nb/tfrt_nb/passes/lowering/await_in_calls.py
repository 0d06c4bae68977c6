"""Let called functions wait and fail.

The pass `async-await-in-calls` turns a function that waits into an async function if a task calls
it:

    func.func @get(%v: !async.value<i64>) -> i64 {     async.func private @get_async(...)
      %x = async.await %v : !async.value<i64>              -> !async.value<i64> {
      return %x : i64                                    %x = async.await %v : !async.value<i64>
    }                                                    return %x : i64
    async.execute {                               =>   }
      %x = call @get(%v) : ...                         async.execute {
      ...                                                %f = async.call @get_async(%v) : ...
    }                                                    %x = async.await %f : !async.value<i64>

In MLIR, such a task blocks its thread. If the blocked thread does nothing, a worker is lost. If it
runs another task, that task's frame is on top of the waiting frame. The waiting frame cannot
continue until the other task returns, but the other task may itself be waiting for it. After this
pass, only code outside tasks can block, so a waiting frame is never below another task's frame.

Invariants: A task or an async function never calls a function that waits on its own stack. A
function that is called from outside the module does not change.

A result that is itself an async object becomes the payload of the async function's value. That
payload is loaded only once, because the load takes over its reference.

The pass `async-propagate-failures` makes an assertion in a plain function fail the function instead
of the process:

    func.func @f(%ok: i1) -> i64 {        func.func @f(%ok: i1) -> (i1, i64) attributes {fallible} {
      cf.assert %ok, "no"                   cf.cond_br %ok, ^go, ^fail
      return %x : i64               =>    ^go:
    }                                       return %false, %x : i1, i64
                                          ^fail:
                                            async.runtime.fail "no"
                                            return %true, %poison : i1, i64
                                          }

The first result of a function that can fail says whether it failed, and each caller tests this
flag. If the call failed, a plain caller also fails, and a coroutine resolves its results to the
error. The program does not use the other results of a failed call. Each async result is a new
object that is an error, so that its references can be counted like any others.

This pass runs after the lowering to coroutines. It runs before reference counting, which must see
every exit of a function.

`finished_coroutine` finds the parts of a coroutine that `coroutines.begin_coroutine` created.
Passes that run between the two, especially `canonicalize`, merge blocks. The exit after a failure
would then lead back into the body, so `finished_coroutine` gives each part its own block again. The
extra blocks cost nothing, because LLVM merges them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import cf, ub
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
)
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.dialects.func import ReturnOp as PlainReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import (
    RuntimeCheckInterruptOp,
    RuntimeCheckOp,
    RuntimeFailFromOp,
    RuntimeFailOp,
    RuntimeHandleOfOp,
    RuntimeStackIsLowOp,
    RuntimeTakeFailureOp,
)
from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp
from tfrt_nb.dialects.async_.runtime import (
    CoroBeginOp,
    CoroEndOp,
    CoroFreeOp,
    CoroSaveOp,
    CoroSuspendOp,
    RuntimeAwaitAndResumeOp,
    RuntimeAwaitOp,
    RuntimeCreateOp,
    RuntimeIsErrorOp,
    RuntimeSetErrorOp,
)
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp, ExecuteOp
from tfrt_nb.dialects.async_.types import TokenType, ValueType
from tfrt_nb.passes.control_flow import (
    Emitter,
    block_of,
    choose,
    erase,
    exchange,
    jump,
    leave,
    operations_in,
    replace,
    split_behind,
    truth,
)
from tfrt_nb.passes.lowering.call_graph import functions_with
from tfrt_nb.passes.lowering.coroutines import (
    JOINS,
    PRESPLIT,
    WAITING,
    Coroutine,
    ErrorStyle,
    branch_on_interrupt,
    freeing_block,
    given_results,
    make_single_level,
    outside_tasks,
    suspend_at_end,
)
from tfrt_nb.passes.lowering.outline import Symbols

_STARTS = (cf.BranchOp, CoroSaveOp, RuntimeStackIsLowOp)
"""The operations that can follow `async.coro.begin` if the body is a separate block."""


def finished_coroutine(function: PlainFuncOp) -> Coroutine | None:
    """Return the coroutine that `begin_coroutine` created from `function`, or None.

    The coroutine's style keeps errors. The function splits the blocks that another pass
    (`canonicalize`) has merged.
    """
    if function.attributes.get("passthrough") != PRESPLIT:
        return None
    operations = [op for block in function.body.blocks for op in block.ops]
    begin = next((op for op in operations if isinstance(op, CoroBeginOp)), None)
    end = next((op for op in operations if isinstance(op, CoroEndOp)), None)
    if begin is None or end is None:
        return None
    leave = end.next_op
    assert isinstance(leave, PlainReturnOp)
    style = ErrorStyle(token_last=True, keep=True)
    results = given_results(function) or tuple(leave.arguments)
    coroutine = Coroutine(function, results, begin.id, begin.handle, style)
    _split_merged(coroutine, operations)
    return coroutine


def _split_merged(coroutine: Coroutine, operations: Sequence[Operation]) -> None:
    """Give the start, the body, and each of the last blocks its own block again."""
    body, suspend, region = None, None, coroutine.function.body
    frees, destroyed = list[Block](), set[Block]()
    for op in operations:
        match op:
            case CoroBeginOp() if not isinstance(op.next_op, _STARTS):
                body = op.next_op
            case CoroFreeOp():
                frees.append(_own_block(op))
            case CoroSuspendOp():
                destroyed.add(op.successors[-1])
            case CoroEndOp():
                suspend = _own_block(op)
    if body is not None:
        _own_block(body)
    assert suspend is not None
    # `Coroutine` finds these blocks by position, so `destroy`, to which suspensions lead, comes
    # last.
    frees.sort(key=destroyed.__contains__)
    # If a coroutine never suspends, its `destroy` block is unreachable, and `canonicalize` removes
    # it.
    frees += [freeing_block(coroutine, suspend) for _ in range(2 - len(frees))]
    last = (*frees[:2], suspend)
    if tuple(region.blocks)[-len(last) :] != last:
        for block in last:
            if block.parent is not None:
                region.detach_block(block)
            region.add_block(block)


def _own_block(op: Operation) -> Block:
    """Return a block that starts with `op`; split the block of `op` if necessary."""
    block = block_of(op)
    if block.first_op is op:
        return block
    rest = block.split_before(op)
    Emitter.at_end(block, op.location)(jump(rest))
    return rest


@dataclass(frozen=True)
class AwaitInCalls(ModulePass):
    """Makes a task suspend when it calls a function that waits."""

    name: ClassVar[str] = "async-await-in-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plain = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, PlainFuncOp)}
        waiting = waiting_functions(plain)
        if waiting:
            _Suspender(op, {name: plain[name] for name in waiting}).run()


def waiting_functions(functions: Mapping[str, PlainFuncOp]) -> set[str]:
    """Return the names of the functions that wait or call a function that waits.

    Coroutines do not count: when a function that a coroutine calls waits, the coroutine's own
    caller has already continued.
    """
    inside = {
        name: outside_tasks(function.body)
        for name, function in functions.items()
        if function.attributes.get("passthrough") != PRESPLIT
    }
    return functions_with(inside, lambda op: type(op) in WAITING)


class _Suspender:
    """Replaces calls to waiting functions, and creates each async function at its first call."""

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
        # Calls now go to the async versions, so only the original functions may have lost all their
        # callers.
        _erase_unused([self.waiting[name] for name in self.made], self.module)

    def _suspend(self, call: PlainCallOp) -> None:
        name = call.callee.root_reference.data
        if name not in self.made:
            self.made[name] = self._make(self.waiting[name])
        function = self.made[name]
        emit = Emitter.in_front_of(call)
        symbol = SymbolRefAttr(function.sym_name.data)
        called = emit(CallOp(symbol, call.arguments, function.function_type.outputs.data))
        if JOINS in call.attributes:
            following = call.next_op
            # `async-parallel-for` puts the await of the group right after the call.
            assert isinstance(following, AwaitAllOp)
            # If the call failed, the await of its result fails. The loop's other blocks must finish
            # before that.
            emit(RuntimeAwaitOp(called.results_[0]))
            emit(RuntimeAwaitOp(following.operand))
        awaited = [emit(AwaitOp(result)).result for result in called.results_]
        replace(call, [value for value in awaited if value is not None])

    def _make(self, plain: PlainFuncOp) -> FuncOp:
        body = plain.body.clone()
        for original, copied in zip(plain.body.walk(), body.walk(), strict=True):
            copied.location = original.location
        payloads = plain.function_type.outputs.data
        values: list[Attribute] = [ValueType(type_) for type_ in payloads]
        # Without results, the token still tells the caller when the function has finished.
        type_ = FunctionType.from_lists(plain.function_type.inputs.data, values or [TokenType()])
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
    """Erase the private functions that nothing calls, and repeat until none is left."""
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


FALLIBLE = "fallible"
"""The attribute of a function whose first result is a flag that says whether it failed."""
FAST_PATH = "fast_path"
"""The attribute of a function whose first results are handles (see `fast_path`).

The attribute's value lists the types of the objects that the handles represent. Instead of failing,
such a function returns handles of objects that are errors.
"""

_MAX_RETURNS = 3
"""The maximum number of failure points in a function for which each gets its own return.

With more failure points, all of them share one block.
"""
FAILING = frozenset({cf.AssertOp, RuntimeCheckOp, RuntimeCheckInterruptOp})
"""The operations at which a plain function can fail."""


@dataclass(frozen=True)
class PropagateFailures(ModulePass):
    """Replaces `cf.assert` and the runtime's checks in plain functions."""

    name: ClassVar[str] = "async-propagate-failures"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [nested for nested in op.body.block.ops if isinstance(nested, PlainFuncOp)]
        coroutines = {function: finished_coroutine(function) for function in functions}
        # Coroutines and fast paths report failures through their results, so they need no failure
        # flag.
        plain = [f for f in functions if coroutines[f] is None and FAST_PATH not in f.attributes]
        # A function that calls a fallible function is fallible, too.
        inside = {function.sym_name.data: operations_in(function) for function in plain}
        fallible = functions_with(inside, lambda op: type(op) in FAILING)
        for function in functions:
            _propagate(function, coroutines[function], fallible)


def _can_fail(op: Operation, fallible: set[str]) -> bool:
    # Compare exact types, because `isinstance` is slow on abstract base classes.
    if type(op) is PlainCallOp:
        return op.callee.root_reference.data in fallible
    return type(op) in FAILING


def _propagate(function: PlainFuncOp, coroutine: Coroutine | None, fallible: set[str]) -> None:
    if function.is_declaration:
        return
    # A failure becomes a branch out of the function, which the regions of `scf` cannot contain.
    make_single_level(function.body, lambda op: _can_fail(op, fallible))
    # This must come first, because `_return_failure` expects the flag among the function's results.
    if function.sym_name.data in fallible:
        _return_success(function)
    points = [op for block in function.body.blocks for op in block.ops if _can_fail(op, fallible)]
    way_out = None
    if coroutine is None and len(points) > _MAX_RETURNS:
        way_out = Block()
        function.body.add_block(way_out)
        _return_failure(function, Emitter.at_end(way_out, function.location))
    # Start from the end, so that each split moves only a short remainder of a block.
    for op in reversed(points):
        _branch_on_failure(op, function, coroutine, way_out)


def _return_success(function: PlainFuncOp) -> None:
    inputs, outputs = function.function_type.inputs, function.function_type.outputs
    function.function_type = FunctionType.from_lists(inputs.data, [i1, *outputs.data])
    function.attributes[FALLIBLE] = UnitAttr()
    for block in function.body.blocks:
        end = block.last_op
        if isinstance(end, PlainReturnOp):
            emit = Emitter.in_front_of(end)
            emit(leave(emit(truth(False)).result, *end.arguments))
            erase(end)


def _branch_on_failure(
    op: Operation, function: PlainFuncOp, coroutine: Coroutine | None, way_out: Block | None
) -> None:
    """Split the block after `op`, and branch to the rest or to a block that records the failure."""
    _, continuation = split_behind(op)
    failure = Block()
    function.body.insert_block_before(failure, continuation)
    emit = Emitter.in_front_of(op)
    note = Emitter.at_end(failure, op.location)
    match op:
        case cf.AssertOp():
            emit(choose(op.arg, continuation, failure))
            note(RuntimeFailOp(message=op.msg))
        case RuntimeCheckOp():
            emit(choose(emit(RuntimeIsErrorOp(op.operand)).is_error, failure, continuation))
            note(RuntimeFailFromOp(op.operand))
        case RuntimeCheckInterruptOp():
            branch_on_interrupt(emit, failure, continuation)
        case PlainCallOp():
            call = emit(PlainCallOp(op.callee, op.arguments, [i1, *op.res.types]))
            emit(choose(call.res[0], failure, continuation))
    joined = _joined(op, continuation)
    # The first result is the failure flag.
    replace(op, call.res[1:] if isinstance(op, PlainCallOp) else ())
    if coroutine is None:
        if joined is not None:
            note(RuntimeAwaitOp(joined))
        if way_out is None:
            _return_failure(function, note)
        else:
            note(jump(way_out))
    else:
        for result in coroutine.results:
            # The failure is recorded for this thread, and the suspension below may move the
            # coroutine to another thread.
            note(RuntimeTakeFailureOp(result))
        if joined is not None:
            note = suspend_at_end(coroutine, note.block, joined)
        note(jump(coroutine.set_error))


def _joined(op: Operation, continuation: Block) -> SSAValue | None:
    """Return the group that the program must await even if the call fails, or None."""
    if JOINS not in op.attributes:
        return None
    # The await of the group is already lowered: it blocks in a plain function, and resumes a
    # coroutine.
    waits = (w for w in continuation.ops if isinstance(w, RuntimeAwaitOp | RuntimeAwaitAndResumeOp))
    return next(waits).operand


def _return_failure(function: PlainFuncOp, emit: Emitter) -> None:
    objects = function.attributes.get(FAST_PATH)
    if isinstance(objects, ArrayAttr):
        _return_errors(function, objects.data, emit)
        return
    outputs = function.function_type.outputs.data[1:]
    emit(leave(emit(truth(True)).result, *(_unusable(type_, emit) for type_ in outputs)))


def _return_errors(function: PlainFuncOp, objects: Sequence[Attribute], emit: Emitter) -> None:
    """Return handles of objects that are errors.

    Their reason is the one that the runtime recorded for this thread.
    """
    handles = []
    for type_ in objects:
        created = emit(RuntimeCreateOp(type_)).result
        emit(RuntimeTakeFailureOp(created))
        emit(RuntimeSetErrorOp(created))
        handles.append(emit(RuntimeHandleOfOp(created)).result)
    payloads = function.function_type.outputs.data[len(objects) :]
    emit(leave(*handles, *(emit(ub.PoisonOp(type_)).result for type_ in payloads)))


def _unusable(type_: Attribute, emit: Emitter) -> SSAValue:
    """Emit a result that no code reads.

    If the result is async, the caller owns a reference to it, as for any other result.
    """
    if not isinstance(type_, TokenType | ValueType):
        return emit(ub.PoisonOp(type_)).result
    created = emit(RuntimeCreateOp(type_)).result
    emit(RuntimeSetErrorOp(created))
    return created
