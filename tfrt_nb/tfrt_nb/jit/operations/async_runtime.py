"""Lower runtime and coroutine operations to calls to runtime functions and LLVM intrinsics.

`jit.runtime_calls` defines most calls of runtime functions. The intrinsics are described at
https://llvm.org/docs/Coroutines.html.
"""

from __future__ import annotations

from xdsl.dialects import cf
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tfrt_nb.dialects.async_ import extensions, runtime
from tfrt_nb.dialects.async_.types import GroupType
from tfrt_nb.jit.adapters import ask_to_stop, burn_fuel, seldom
from tfrt_nb.jit.function_body import LIVE_COUNTER, STACK_LIMIT, FunctionBody, Lowering
from tfrt_nb.jit.llvm_types import llvm_type
from tfrt_nb.jit.names import INTERRUPT_FLAG
from tfrt_nb.jit.runtime_calls import IN_HEADER, PREFIX, calls, fail_function
from tfrt_nb.jit.runtime_calls import LOWERINGS as OF_RUNTIME
from tfrt_runtime.native.layouts import ERROR, STATE_BITS, VALUE_PAYLOAD, VALUE_STATE


def _await(body: FunctionBody, op: Operation) -> None:
    """Block until the object is resolved; record the place for reports of unresolved objects."""
    body.runtime("tfrtAsyncAwait", body.name(op.operands[0]), body.module.maker(op) or "null")


def _is_error(body: FunctionBody, op: Operation) -> None:
    (operand,) = op.operands
    if isinstance(operand.type, GroupType):
        OF_RUNTIME[op.name](body, op)
        return
    # The check is inlined, because it follows each await.
    place = body.value(f"getelementptr i8, ptr {body.name(operand)}, i64 {VALUE_STATE}")
    word = body.value(f"load atomic i64, ptr {place} acquire, align 8")
    state = body.value(f"and i64 {word}, {STATE_BITS}")
    body.set(op.results[0], f"icmp eq i64 {state}, {ERROR}")


def _payload_of(body: FunctionBody, value: SSAValue, type_: Attribute) -> str:
    """Return the address of a value's payload."""
    if llvm_type(type_) in IN_HEADER:
        return body.value(f"getelementptr i8, ptr {body.name(value)}, i64 {VALUE_PAYLOAD}")
    return body.runtime(f"{PREFIX}GetValueStorage", body.name(value))


def _store(body: FunctionBody, op: Operation) -> None:
    value, storage = op.operands
    pointer = _payload_of(body, storage, value.type)
    # The storage is only guaranteed to be aligned to one byte.
    body.emit(f"store {body.typed(value)}, ptr {pointer}, align 1")


def _load(body: FunctionBody, op: Operation) -> None:
    result = op.results[0]
    pointer = _payload_of(body, op.operands[0], result.type)
    body.set(result, f"load {llvm_type(result.type)}, ptr {pointer}, align 1")


def _stack_is_low(body: FunctionBody, op: Operation) -> None:
    if body.has_limit:
        # The address of a variable is close to the frame's address, which would cost a register.
        here, limit = body.first("alloca i8"), STACK_LIMIT
        if body.module.attempts:
            limit = body.value(f"load ptr, ptr {limit}")
    else:
        # A coroutine's variables may be on the heap, so only the frame's address shows where the
        # stack is.
        limit = body.runtime("tfrtAsyncStackLimit")
        here = body.call("llvm.frameaddress.p0", "ptr", ("i32", "0"))
    is_low = body.value(f"icmp ult ptr {here}, {limit}")
    body.bind(op.results[0], seldom(body, is_low) if body.module.attempts else is_low)


def _interrupt_is_pending(body: FunctionBody, op: Operation) -> None:
    if body.module.attempts:
        burn_fuel(body, op)
        return
    body.module.watches_interrupts = True
    flag = body.value(f"load ptr, ptr {INTERRUPT_FLAG}, !invariant.load !{{}}")
    # The load is volatile, because the word may change while the loop runs.
    pending = body.value(f"icmp ne i64 {body.value(f'load volatile i64, ptr {flag}')}, 0")
    body.bind(op.results[0], seldom(body, pending))


def _is_interrupted(body: FunctionBody, op: Operation) -> None:
    if body.module.attempts:
        ask_to_stop(body, op)
        return
    body.runtime("tfrtAsyncIsInterrupted", body.module.failure("", op), results=op.results)


def _fail(body: FunctionBody, op: extensions.RuntimeFailOp) -> None:
    if not body.module.attempts:  # in attempts, the executor finds and reports the error
        fail_function(body, op)


def _coro_id(body: FunctionBody, op: Operation) -> None:
    nothing = ("ptr", "null")
    arguments = ("i32", "0"), nothing, nothing, nothing
    body.bind(op.results[0], body.call("llvm.coro.id", "token", *arguments))


def _coro_begin(body: FunctionBody, op: Operation) -> None:
    """Allocate a frame of the size that LLVM computes."""
    _count_coroutine(body, 1)
    memory = body.runtime("tfrtAsyncAllocateFrame", *_frame_size(body))
    arguments = body.argument(op.operands[0]), ("ptr", memory)
    body.bind(op.results[0], body.call("llvm.coro.begin", "ptr", *arguments))


def _frame_size(body: FunctionBody) -> tuple[str, str]:
    return body.call("llvm.coro.size.i64", "i64"), body.call("llvm.coro.align.i64", "i64")


def _coro_free(body: FunctionBody, op: Operation) -> None:
    memory = body.call("llvm.coro.free", "ptr", *map(body.argument, op.operands))
    body.runtime("tfrtAsyncFreeFrame", memory, *_frame_size(body))
    # From here on, the tensors that were lent to the coroutine may be dropped.
    _count_coroutine(body, -1)


def _count_coroutine(body: FunctionBody, step: int) -> None:
    if body.module.counts:
        body.value(f"atomicrmw add ptr {LIVE_COUNTER}, i64 {step} acq_rel")


def _coro_end(body: FunctionBody, op: Operation) -> None:
    arguments = body.argument(op.operands[0]), ("i1", "false"), ("token", "none")
    body.call("llvm.coro.end", "void", *arguments)


def _coro_save(body: FunctionBody, op: Operation) -> None:
    wait = op.next_op
    suspend = None if wait is None else wait.next_op
    # Skip an await only if its suspension follows immediately. Other operations, such as a drop of
    # a reference, must run in any case.
    if (
        body.looks_ahead
        and isinstance(wait, runtime.RuntimeAwaitAndResumeOp)
        and isinstance(suspend, runtime.CoroSuspendOp)
    ):
        awaited = wait.operands[0]
        target = _where_no_error(suspend.resume, awaited)
        # MLIR's block does not have this branch, so a phi instruction would have no value for it.
        if not any(block.args for block in (target, *suspend.successors)):
            body.branch_off(body.runtime("tfrtAsyncGoesOn", body.name(awaited)), target)
    body.bind(op.results[0], body.call("llvm.coro.save", "token", body.argument(op.operands[0])))


def _where_no_error(block: Block, awaited: SSAValue) -> Block:
    """Return the block that runs if the awaited object is not an error.

    If `block` only checks the object for an error, the result is one of its successors. Otherwise,
    the result is `block`.
    """
    check = block.first_op
    if isinstance(check, runtime.RuntimeIsErrorOp) and check.operand is awaited:
        choice = check.next_op
        if isinstance(choice, cf.ConditionalBranchOp) and choice.cond is check.is_error:
            return choice.else_block
    return block


def _coro_suspend(body: FunctionBody, op: runtime.CoroSuspendOp) -> None:
    way = body.call("llvm.coro.suspend", "i8", body.argument(op.state), ("i1", "false"))
    resume, cleanup = body.label(op.resume), body.label(op.cleanup)
    body.emit(f"switch i8 {way}, {body.label(op.suspend)} [ i8 0, {resume} i8 1, {cleanup} ]")


_ONCE = "@.log_once"
_LOG_ONCE = f"""\
define internal void {_ONCE}(ptr %site, ptr %logged, i1 %wanted) alwaysinline {{
  %before = load i64, ptr %logged
  %is_new = icmp eq i64 %before, 0
  %logs = and i1 %is_new, %wanted
  br i1 %logs, label %log, label %end
log:
  store i64 1, ptr %logged
  call void @tfrtAsyncLogBlock(ptr %site)
  br label %end
end:
  ret void
}}"""


def _log(body: FunctionBody, op: extensions.RuntimeLogOp) -> None:
    """Log an event of `op`.

    A block is logged only once per activation, because a loop would otherwise log each iteration.
    """
    number = op.site.value.data
    site, logged = body.module.site(number, op), body.flag(number)
    if op.event.data == "enter":
        entered = body.runtime("tfrtAsyncLogEnter", site)
        body.emit(f"store i64 {entered}, ptr {logged}")
    elif op.event.data == "leave":
        # The word is 0 if another function made the call. A continuation, for example, gets calls
        # from the original function.
        body.runtime("tfrtAsyncLogLeave", site, body.value(f"load i64, ptr {logged}"))
    else:
        body.module.declare("tfrtAsyncLogBlock", "void", "ptr")
        body.module.helpers[_ONCE] = _LOG_ONCE
        wanted = "true" if op.condition is None else body.name(op.condition)
        body.emit(f"call void {_ONCE}(ptr {site}, ptr {logged}, i1 {wanted})")


LOWERINGS: dict[str, Lowering] = {
    **OF_RUNTIME,
    extensions.RuntimeLogOp.name: _log,
    runtime.RuntimeIsErrorOp.name: _is_error,
    runtime.RuntimeAwaitOp.name: _await,
    runtime.RuntimeResumeOp.name: calls(f"{PREFIX}Execute", FunctionBody.resume),
    runtime.RuntimeStoreOp.name: _store,
    runtime.RuntimeLoadOp.name: _load,
    extensions.RuntimeStackIsLowOp.name: _stack_is_low,
    extensions.RuntimeHandleOfOp.name: lambda body, op: body.set(
        op.results[0], f"ptrtoint ptr {body.name(op.operands[0])} to i64"
    ),
    extensions.RuntimeFromHandleOp.name: lambda body, op: body.set(
        op.results[0], f"inttoptr i64 {body.name(op.operands[0])} to ptr"
    ),
    extensions.RuntimeInterruptIsPendingOp.name: _interrupt_is_pending,
    extensions.RuntimeIsInterruptedOp.name: _is_interrupted,
    extensions.RuntimeFailOp.name: _fail,
    runtime.CoroIdOp.name: _coro_id,
    runtime.CoroBeginOp.name: _coro_begin,
    runtime.CoroFreeOp.name: _coro_free,
    runtime.CoroEndOp.name: _coro_end,
    runtime.CoroSaveOp.name: _coro_save,
    runtime.CoroSuspendOp.name: _coro_suspend,
}
