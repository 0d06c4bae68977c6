"""Turn functions into coroutines, and their awaits into suspension points.

A function that becomes a coroutine may return a token and any number of values. The pass puts these
blocks around its body:

    entry:     create the token and the values, begin the coroutine
    ...        the body
    set_error: resolve all of them to an error        (only if something can fail)
    cleanup:   free the frame
    destroy:   free the frame of a coroutine that is destroyed while it is suspended
    suspend:   end the coroutine, return the token and the values

Invariants: `suspend` is the only block that returns. Every path through the body leads to
`cleanup`, after each result has been resolved exactly once. After the call that lets another thread
resume the coroutine, the coroutine does not touch its frame until it is suspended.

In a coroutine, an await suspends, and an assertion branches to the error block.

The blocks follow LLVM's rules for coroutines with switched-resume lowering,
https://llvm.org/docs/Coroutines.html.

Rejected alternative: a thread or a separate stack (fiber) for each waiting task. Both reserve
memory for the deepest call of each task, whereas a coroutine's frame holds only the values that are
live across an await.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import cf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, LocationAttr, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.extensions import (
    RuntimeCheckInterruptOp,
    RuntimeDescribeErrorOp,
    RuntimeInheritErrorOp,
    RuntimeInterruptIsPendingOp,
    RuntimeIsCancelledOp,
    RuntimeIsInterruptedOp,
    RuntimeStackIsLowOp,
    RuntimeTakeFailureOp,
)
from tfrt_nb.dialects.async_.runtime import (
    BY_HAND,
    ON_TOP,
    UNLESS_AVAILABLE,
    CoroBeginOp,
    CoroEndOp,
    CoroFreeOp,
    CoroIdOp,
    CoroSaveOp,
    CoroSuspendOp,
    RuntimeAddRefOp,
    RuntimeAwaitAndResumeOp,
    RuntimeAwaitOp,
    RuntimeCreateOp,
    RuntimeDropRefOp,
    RuntimeIsErrorOp,
    RuntimeLoadOp,
    RuntimeResumeOp,
    RuntimeSetAvailableOp,
    RuntimeSetErrorOp,
    RuntimeStoreOp,
)
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp, ExecuteOp
from tfrt_nb.dialects.async_.types import TokenType, ValueType
from tfrt_nb.passes.control_flow import (
    Emitter,
    ancestors,
    choose,
    erase,
    exchange,
    jump,
    region_of,
    replace,
    split_behind,
)
from tfrt_nb.passes.lowering.convert_scf_to_cf import (
    lower_structured_control_flow,
)

GIVEN_RESULTS = "given_results"
"""The attribute of a coroutine that resolves its first arguments instead of returning objects.

The attribute's value is the number of these arguments. The coroutine takes over the producer's
references to them, so the counting passes do not count them.
"""
SHARED_BODY = "shared_body"
"""The unit attribute of a function with GIVEN_RESULTS that is the body of several tasks.

These tasks have different source locations.
"""
RESOLVED_BY_HAND = "resolved_by_hand"
"""The unit attribute of a coroutine whose token is resolved only by the program itself.

The token may live longer than the coroutine's run and the caller's reference, so the coroutine
holds its own reference.
"""
PRESPLIT = ArrayAttr([StringAttr("presplitcoroutine")])
"""The value of a coroutine's `passthrough` attribute, which asks LLVM to split the coroutine."""


JOINS = "joins"
"""The attribute of a call after which the program must await a group even if the call fails.

The group is the operand of the next await. Therefore, when a parallel loop fails, no task that uses
buffers from outside the loop is still running.
"""
UNINTERRUPTED = "uninterrupted"
"""The attribute of a loop that continues even if its run is cancelled.

A loop that starts the members of a group must start all of them. Otherwise, an await of the group
would never finish.
"""
WAITING = frozenset({AwaitOp, AwaitAllOp, RuntimeAwaitOp})
"""The operations that wait for an object."""
_BRANCHING = WAITING | {RuntimeCheckInterruptOp, cf.AssertOp}


@dataclass(frozen=True, slots=True)
class ErrorStyle:
    """How the lowering treats errors.

    With `token_last`, the token is resolved after the values, so that every value is resolved when
    an await of the token finishes. With `keep`, an error records why and where it occurred.
    """

    token_last: bool = False
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Coroutine:
    """A function whose body `begin_coroutine` has surrounded with a coroutine's blocks.

    `results` are an optional token and then the values. The function returns these objects, or it
    resolves them for the code that spawned it.
    """

    function: FuncOp
    results: tuple[SSAValue, ...]
    id: SSAValue
    handle: SSAValue
    style: ErrorStyle

    @property
    def token(self) -> SSAValue | None:
        """Return the token that marks completion, if the function returns one."""
        has_token = bool(self.results) and isinstance(self.results[0].type, TokenType)
        return self.results[0] if has_token else None

    @property
    def is_resolved_by_hand(self) -> bool:
        """Return whether only the program itself resolves the token, possibly before a failure."""
        return RESOLVED_BY_HAND in self.function.attributes

    @property
    def values(self) -> tuple[SSAValue, ...]:
        """Return the results that have a payload."""
        return self.results if self.token is None else self.results[1:]

    @property
    def suspend(self) -> Block:
        """Return the last block.

        It returns to the caller or to the code that resumed the coroutine.
        """
        block = self.function.body.last_block
        assert block is not None
        return block

    @property
    def destroy(self) -> Block:
        """Return the block that frees the frame when a suspended coroutine is destroyed."""
        block = self.suspend.prev_block
        assert block is not None
        return block

    @property
    def cleanup(self) -> Block:
        """Return the block that frees the frame after all results are resolved."""
        block = self.destroy.prev_block
        assert block is not None
        return block

    @property
    def set_error(self) -> Block:
        """Return the block that resolves all results to an error; create the block on first use."""
        before = self.cleanup.prev_block
        assert before is not None
        # If the block exists, it starts by setting one of the results to an error.
        first = before.first_op
        if isinstance(first, RuntimeSetErrorOp) and first.operand in self.results:
            return before
        block = Block()
        self.function.body.insert_block_before(block, self.cleanup)
        emit = Emitter.at_end(block, self.function.location)
        for result in self._in_order_of_errors():
            failing = emit(RuntimeSetErrorOp(result))
            # The program may have resolved its own token before the failure.
            if result is self.token and self.is_resolved_by_hand:
                failing.attributes[UNLESS_AVAILABLE] = UnitAttr()
        emit(jump(self.cleanup))
        return block

    def _in_order_of_errors(self) -> tuple[SSAValue, ...]:
        if self.style.token_last and self.token is not None:
            return (*self.values, self.token)
        return self.results


def begin_coroutine(function: FuncOp, style: ErrorStyle) -> Coroutine:
    """Put the blocks of a coroutine around the body of `function`.

    The arguments move to a new entry block, which has no terminator yet: the caller decides how the
    coroutine starts.
    """
    function.attributes["passthrough"] = PRESPLIT
    body = function.body.blocks[0]
    entry = Block(arg_types=body.arg_types)
    for old, new in zip(list(body.args), entry.args, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
        body.erase_arg(old)
    function.body.insert_block_before(entry, body)
    emit = Emitter.at_end(entry, function.location)
    results = given_results(function)
    if not results:
        outputs = function.function_type.outputs
        results = tuple(emit(RuntimeCreateOp(type_)).result for type_ in outputs)
    id_ = emit(CoroIdOp()).id
    coroutine = Coroutine(function, results, id_, emit(CoroBeginOp(id_)).handle, style)
    # The properties of `Coroutine` find these blocks by their position at the end.
    function.body.add_block(_last_blocks(coroutine))
    return coroutine


def _last_blocks(coroutine: Coroutine) -> list[Block]:
    """Return the new blocks `cleanup`, `destroy`, and `suspend`, in this order."""
    suspend = Block()
    leave = Emitter.at_end(suspend, coroutine.function.location)
    leave(CoroEndOp(coroutine.handle))
    leave(ReturnOp(*(coroutine.results if coroutine.function.function_type.outputs else ())))
    return [freeing_block(coroutine, suspend), freeing_block(coroutine, suspend), suspend]


def freeing_block(coroutine: Coroutine, suspend: Block) -> Block:
    """Return a new block that frees the frame and branches to `suspend`."""
    block = Block()
    emit = Emitter.at_end(block, coroutine.function.location)
    emit(CoroFreeOp(coroutine.id, coroutine.handle))
    emit(jump(suspend))
    return block


def given_results(function: FuncOp) -> tuple[SSAValue, ...]:
    """Return the arguments that the function resolves instead of returning new objects."""
    count = function.attributes.get(GIVEN_RESULTS)
    return function.args[: count.value.data] if isinstance(count, IntegerAttr) else ()


def start_hot(coroutine: Coroutine) -> None:
    """Start the body on the caller's thread."""
    entry, body = _entry_and_body(coroutine)
    Emitter.at_end(entry, coroutine.function.location)(jump(body))


def start_cold(coroutine: Coroutine) -> None:
    """Let a worker start the body when one becomes free."""
    entry, body = _entry_and_body(coroutine)
    _hand_over(coroutine, entry, body)


def start_hot_if_stack_allows(coroutine: Coroutine) -> None:
    """Start the body on the caller's thread, or on a worker if little stack is left.

    Deep recursion therefore never exhausts the stack.
    """
    entry, body = _entry_and_body(coroutine)
    cold = Block()
    coroutine.function.body.insert_block_before(cold, body)
    emit = Emitter.at_end(entry, coroutine.function.location)
    emit(choose(emit(RuntimeStackIsLowOp()).result, cold, body))
    _hand_over(coroutine, cold, body)


def _entry_and_body(coroutine: Coroutine) -> tuple[Block, Block]:
    entry = coroutine.function.body.blocks[0]
    assert entry.next_block is not None
    return entry, entry.next_block


def _hand_over(coroutine: Coroutine, block: Block, body: Block) -> None:
    """Suspend at the end of `block`; a worker then resumes at `body`."""
    emit = Emitter.at_end(block, coroutine.function.location)
    # Save the state first, because another thread may resume the coroutine after the next
    # operation.
    state = emit(CoroSaveOp(coroutine.handle)).state
    emit(RuntimeResumeOp(coroutine.handle))
    resumed = _unless_cancelled(coroutine, body) if coroutine.style.keep else body
    emit(CoroSuspendOp(state, coroutine.suspend, resumed, coroutine.destroy))


def _unless_cancelled(coroutine: Coroutine, body: Block) -> Block:
    """Return a block that branches to `body` unless the run is cancelled.

    A worker that starts the coroutine enters it there.
    """
    started, location = Block(), coroutine.function.location
    coroutine.function.body.insert_block_before(started, body)
    cancelled = _noting(coroutine, started, location, RuntimeTakeFailureOp)
    emit = Emitter.at_end(started, location)
    emit(choose(emit(RuntimeIsCancelledOp()).result, cancelled, body))
    return started


def resolve(coroutine: Coroutine, terminator: Operation) -> None:
    """Replace a return or yield with code that stores and resolves the results, the token last."""
    emit = Emitter.in_front_of(terminator)
    for operand, value in zip(terminator.operands, coroutine.values, strict=True):
        emit(RuntimeStoreOp(operand, value))
        emit(RuntimeSetAvailableOp(value))
    if coroutine.token is not None and not coroutine.is_resolved_by_hand:
        emit(RuntimeSetAvailableOp(coroutine.token))
    emit(jump(coroutine.cleanup))
    replace(terminator, ())


def resolve_by_hand(coroutine: Coroutine, handles: Sequence[Operation]) -> None:
    """Replace each handle with the token, which the function's return no longer resolves."""
    token = coroutine.token
    assert token is not None
    coroutine.function.attributes[RESOLVED_BY_HAND] = UnitAttr()
    for handle in handles:
        replace(handle, [token])
    entry, _ = _entry_and_body(coroutine)
    location = coroutine.function.location
    for emit, kind in (
        (Emitter.at_end(entry, location), RuntimeAddRefOp),
        (Emitter.at_start(coroutine.cleanup, location), RuntimeDropRefOp),
    ):
        # Mark the two operations as counts of the program itself, so that the counting passes keep
        # them.
        emit(kind(token)).attributes |= {ON_TOP: UnitAttr(), BY_HAND: UnitAttr()}


def _suspend_until(coroutine: Coroutine, op: Operation, awaited: SSAValue) -> None:
    """Replace an await with code that suspends until `awaited` is resolved.

    The coroutine then continues with the payload, or in `set_error`.
    """
    _, continuation = split_behind(op)
    resumed = Block()
    coroutine.function.body.insert_block_before(resumed, continuation)
    _suspend(coroutine, Emitter.in_front_of(op), awaited, resumed)
    check = Emitter.at_end(resumed, op.location)
    failed = check(RuntimeIsErrorOp(awaited)).is_error
    on_error = (
        _noting(
            coroutine, resumed, op.location, lambda result: RuntimeInheritErrorOp(result, awaited)
        )
        if coroutine.style.keep
        else coroutine.set_error
    )
    check(choose(failed, on_error, continuation))
    load = Emitter.at_start(continuation, op.location)
    payload = [load(RuntimeLoadOp(awaited)).result] if isinstance(awaited.type, ValueType) else []
    replace(op, payload)


def suspend_at_end(coroutine: Coroutine, block: Block, awaited: SSAValue) -> Emitter:
    """Suspend at the end of a block without a terminator.

    Return an emitter at the place where the coroutine resumes.
    """
    resumed = Block()
    coroutine.function.body.insert_block_after(resumed, block)
    location = coroutine.function.location
    _suspend(coroutine, Emitter.at_end(block, location), awaited, resumed)
    return Emitter.at_end(resumed, location)


def _suspend(coroutine: Coroutine, emit: Emitter, awaited: SSAValue, resumed: Block) -> None:
    """Suspend until `awaited` is resolved, and then resume in `resumed`."""
    state = emit(CoroSaveOp(coroutine.handle)).state
    # The state is already saved, because another thread may resume the coroutine after this
    # operation.
    emit(RuntimeAwaitAndResumeOp(awaited, coroutine.handle))
    emit(CoroSuspendOp(state, coroutine.suspend, resumed, coroutine.destroy))


def _branch_on_failure(coroutine: Coroutine, op: cf.AssertOp) -> None:
    """Replace an assertion with a branch to the rest of its block or to `set_error`."""
    block, continuation = split_behind(op)
    on_error = (
        _noting(
            coroutine,
            block,
            op.location,
            lambda result: RuntimeDescribeErrorOp(result, message=op.msg),
        )
        if coroutine.style.keep
        else coroutine.set_error
    )
    exchange(op, choose(op.arg, continuation, on_error))


def _fail_if_interrupted(coroutine: Coroutine, op: RuntimeCheckInterruptOp) -> None:
    """Replace a check with a branch, which leads to `set_error` if the run is cancelled."""
    block, continuation = split_behind(op)
    on_error = _noting(coroutine, block, op.location, RuntimeTakeFailureOp)
    branch_on_interrupt(Emitter.in_front_of(op), on_error, continuation)
    replace(op, ())


def branch_on_interrupt(emit: Emitter, interrupted: Block, continuation: Block) -> None:
    """Branch to `interrupted` if this run is cancelled, and otherwise to `continuation`.

    `continuation` must be the next block. The branch first tests whether any run is cancelled. If
    so, a separate block calls the runtime, which knows whether this run is cancelled.
    """
    ask = Block()
    region_of(continuation).insert_block_before(ask, continuation)
    emit(choose(emit(RuntimeInterruptIsPendingOp()).result, ask, continuation))
    asking = Emitter.at_end(ask, emit.location)
    asking(choose(asking(RuntimeIsInterruptedOp()).result, interrupted, continuation))


def _noting(
    coroutine: Coroutine,
    after: Block,
    location: LocationAttr,
    note: Callable[[SSAValue], Operation],
) -> Block:
    """Insert a block that records why each result fails, and then branches to `set_error`."""
    block = Block()
    coroutine.function.body.insert_block_after(block, after)
    emit = Emitter.at_end(block, location)
    for result in coroutine.results:
        emit(note(result))
    emit(jump(coroutine.set_error))
    return block


def outside_tasks(region: Region) -> Iterator[Operation]:
    """Yield the operations of the region, including nested ones, but not those in task bodies."""
    for block in region.blocks:
        for op in block.ops:
            yield op
            if type(op) is not ExecuteOp:
                for nested in op.regions:
                    yield from outside_tasks(nested)


def make_single_level(region: Region, matters: Callable[[Operation], bool]) -> None:
    """Lower the structured control flow around each operation for which `matters` is true.

    Operations in task bodies are ignored.
    """
    around: set[Operation] = set()
    for op in outside_tasks(region):
        if matters(op):
            for outer in itertools.takewhile(
                lambda outer: outer is not region.parent, ancestors(op)
            ):
                # The operations around `outer` were added together with it.
                if outer in around:
                    break
                around.add(outer)
    if around:
        lower_structured_control_flow(region, lambda op: op in around)


def suspend_at_awaits(coroutine: Coroutine) -> None:
    """Turn each of the coroutine's operations that can wait or fail into branches.

    Operations in task bodies do not change.
    """
    body = coroutine.function.body
    make_single_level(body, lambda op: type(op) in _BRANCHING)
    # Start from the end, so that each split moves only a short remainder of a block.
    for op in reversed(list(outside_tasks(body))):
        match op:
            case AwaitOp() | AwaitAllOp():
                _suspend_until(coroutine, op, op.operand)
            case RuntimeAwaitOp():
                # Unlike an `async.await`, this operation does not fail if the object is an error.
                _, continuation = split_behind(op)
                _suspend(coroutine, Emitter.in_front_of(op), op.operand, continuation)
                erase(op)
            case cf.AssertOp():
                _branch_on_failure(coroutine, op)
            case RuntimeCheckInterruptOp():
                _fail_if_interrupted(coroutine, op)
