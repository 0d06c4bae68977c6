"""Lower runtime and coroutine operations to C functions and LLVM's intrinsics.

The C functions are the runtime's.

22 of the functions have the names and signatures of MLIR's async runtime, so that code compiled
here runs on MLIR's runtime (without error messages) and code compiled by MLIR runs on ours. The
intrinsics are those of https://llvm.org/docs/Coroutines.html.
"""

from __future__ import annotations

from xdsl.dialects import cf
from xdsl.dialects.builtin import IntegerAttr, MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tfrt_nb.dialects.async_ import extensions, runtime
from tfrt_nb.dialects.async_.types import GroupType, ValueType
from tfrt_nb.jit.attempts import ask_to_stop, burn_fuel, seldom
from tfrt_nb.jit.function_body import LIVE_COUNTER, STACK_LIMIT, FunctionBody, Lowering, ModuleText
from tfrt_nb.jit.llvm_types import llvm_type, size_of
from tfrt_nb.jit.names import INTERRUPT_FLAG
from tfrt_nb.passes.lowering.coroutines import SHARED_BODY
from tfrt_runtime.native.layouts import ERROR, STATE_BITS, VALUE_PAYLOAD, VALUE_STATE

_PREFIX = "mlirAsyncRuntime"


IN_HEADER = frozenset({"i1", "i8", "i16", "i32", "i64", "half", "bfloat", "float", "double", "ptr"})
"""Payload types that a value stores at `layouts.VALUE_PAYLOAD`, as any that fit in a word."""


_OF_MLIR: dict[str, tuple[str, ...]] = {
    "AddRef": ("void", "ptr", "i64"),
    "DropRef": ("void", "ptr", "i64"),
    "CreateToken": ("ptr",),
    "CreateValue": ("ptr", "i64"),
    "CreateGroup": ("ptr", "i64"),
    "AddTokenToGroup": ("i64", "ptr", "ptr"),
    "EmplaceToken": ("void", "ptr"),
    "EmplaceValue": ("void", "ptr"),
    "SetTokenError": ("void", "ptr"),
    "SetValueError": ("void", "ptr"),
    "IsTokenError": ("i1", "ptr"),
    "IsValueError": ("i1", "ptr"),
    "IsGroupError": ("i1", "ptr"),
    "AwaitToken": ("void", "ptr"),
    "AwaitValue": ("void", "ptr"),
    "AwaitAllInGroup": ("void", "ptr"),
    "GetValueStorage": ("ptr", "ptr"),
    "Execute": ("void", "ptr", "ptr"),
    "AwaitTokenAndExecute": ("void", "ptr", "ptr", "ptr"),
    "AwaitValueAndExecute": ("void", "ptr", "ptr", "ptr"),
    "AwaitAllInGroupAndExecute": ("void", "ptr", "ptr", "ptr"),
}
"""The runtime's functions that MLIR defines, by name without the prefix.

Two of them, for numbers of threads, are not included.

Each has the LLVM types of the result and of the parameters.
"""
RUNTIME_FUNCTIONS: dict[str, tuple[str, ...]] = {
    **{f"{_PREFIX}{name}": types for name, types in _OF_MLIR.items()},
    "mlirAsyncRuntimGetNumWorkerThreads": ("i64",),  # the typo is part of the name
    "mlirAsyncRuntimeAddValueToGroup": ("i64", "ptr", "ptr"),
    "tfrtAsyncAddToGroup": ("i64", "ptr", "ptr", "ptr"),
    "tfrtAsyncAddRefOnTop": ("void", "ptr", "i64"),
    "tfrtAsyncDropRefOnTop": ("void", "ptr", "i64", "ptr"),
    "tfrtAsyncDropOwnRef": ("void", "ptr", "i64", "ptr"),
    "tfrtAsyncDropRefByHand": ("void", "ptr", "i64", "ptr"),
    "tfrtAsyncCreateToken": ("ptr", "ptr"),
    "tfrtAsyncCreateUnusedToken": ("ptr", "ptr"),
    "tfrtAsyncCreateValue": ("ptr", "i64", "ptr"),
    "tfrtAsyncCreateGroup": ("ptr", "i64", "ptr"),
    "tfrtAsyncEmplaceUnseen": ("void", "ptr"),
    "tfrtAsyncSetErrorUnlessAvailable": ("void", "ptr"),
    "tfrtAsyncEmplaceStored": ("void", "ptr", "i64", "ptr"),
    "tfrtAsyncDescribeError": ("void", "ptr", "ptr"),
    "tfrtAsyncInheritError": ("void", "ptr", "ptr"),
    "tfrtAsyncTakeFailure": ("void", "ptr"),
    "tfrtAsyncFail": ("void", "ptr"),
    "tfrtAsyncFailFrom": ("void", "ptr"),
    "tfrtAsyncAwait": ("void", "ptr", "ptr"),
    "tfrtAsyncAwaitAndExecute": ("void", "ptr", "ptr", "ptr", "ptr"),
    "tfrtAsyncAwaitAndExecuteFor": ("void", "ptr", "ptr", "ptr", "ptr", "i64"),
    "tfrtAsyncStackLimit": ("ptr",),
    "tfrtAsyncIsCancelled": ("i1",),
    "tfrtAsyncIsInterrupted": ("i1", "ptr"),
    "tfrtAsyncIsAvailable": ("i1", "ptr"),
    "tfrtAsyncGoesOn": ("i1", "ptr"),
    "tfrtAsyncLogBlock": ("void", "ptr"),
    "tfrtAsyncLogEnter": ("i64", "ptr"),
    "tfrtAsyncLogLeave": ("void", "ptr", "i64"),
    "tfrtAsyncNewBuffer": ("ptr", "i64"),
    "tfrtAsyncNewFrameBuffer": ("ptr", "i64", "ptr"),
    "tfrtAsyncFreeBuffer": ("i1", "ptr"),
    "tfrtAsyncFreeFrameBuffers": ("void", "ptr"),
    "tfrtAsyncAllocateFrame": ("ptr", "i64", "i64"),
    "tfrtAsyncFreeFrame": ("void", "ptr", "i64", "i64"),
    "tfrtKernelArgument": ("ptr", "ptr", "i64"),
    "tfrtKernelObject": ("ptr", "ptr", "ptr", "i64"),
    "tfrtKernelReturn": ("void", "ptr", "ptr", "i64", "i64"),
    "tfrtKernelReturnObject": ("void", "ptr", "ptr", "i64", "ptr"),
    "tfrtKernelBorrowBuffer": ("i1", "ptr", "ptr"),
    "tfrtKernelReturnBuffer": ("void", "ptr", "ptr"),
    "tfrtKernelBufferObject": ("ptr", "ptr", "ptr", "i64", "i64", "ptr"),
    "tfrtKernelReturnBufferObject": ("void", "ptr", "ptr", "i64", "ptr", "ptr"),
}
"""All functions of the runtime.

MLIR's runtime lacks these: values in groups, places of objects, objects that are resolved before
any other code refers to them, error messages, the lowest address of this thread's stack that
recursive functions should use, whether tasks must no longer start, the events of watched code,
frames of coroutines from a free list, and the arguments and results of kernels of host programs
(`adapters`).

A message is a pointer to `{ ptr text, i64 length, ptr file, i64 length, i64 line, i64 column }`.
"""
RESUME = "@__resume"
"""Resumes a coroutine; the runtime takes it as a pointer."""


def runtime_call(module: ModuleText, name: str, *operands: str) -> str:
    """Return a call of a function of the runtime, and declare the function in the module."""
    returns, *types = RUNTIME_FUNCTIONS[name]
    symbol = module.declare(name, returns, ", ".join(types))
    given = ", ".join(f"{type_} {one}" for type_, one in zip(types, operands, strict=True))
    return f"call {returns} {symbol}({given})"


def _runtime(body: FunctionBody, name: str, *operands: str) -> str:
    """Call a function of the runtime; return the name of its result, if there is one."""
    call = runtime_call(body.module, name, *operands)
    if call.startswith("call void "):
        body.emit(call)
        return ""
    return body.value(call)


def _calls(name: str, *more: str) -> Lowering:
    """Lower to a call with the operands, then `more`.

    KIND in the name becomes the runtime's name for the first operand's type.
    """

    def lower(body: FunctionBody, op: Operation) -> None:
        kind = runtime.runtime_kind(op.operands[0]) if "KIND" in name else ""
        made = _runtime(body, name.replace("KIND", kind), *map(body.name, op.operands), *more)
        for result in op.results:
            body.bind(result, made)

    return lower


def _create(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, runtime.RuntimeCreateOp)
    type_ = op.result.type
    if isinstance(type_, ValueType):
        _make(body, op, "CreateValue", size_of(llvm_type(type_.value_type)))
    else:
        _make(body, op, "CreateToken")


def _create_group(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, runtime.RuntimeCreateGroupOp)
    _make(body, op, "CreateGroup", body.name(op.size))


def _make(body: FunctionBody, op: Operation, name: str, *operands: str) -> None:
    """Create an object, with its origin for reports of objects that leak or are never resolved."""
    record = body.module.maker(op)
    if record is None:
        made = _runtime(body, f"{_PREFIX}{name}", *operands)
    else:
        made = _runtime(body, f"tfrtAsync{name}", *operands, record)
    body.bind(op.results[0], made)


def _set_available(body: FunctionBody, op: Operation) -> None:
    (operand,) = op.operands
    given = [body.name(operand)]
    name = f"{_PREFIX}Emplace{runtime.runtime_kind(operand)}"
    payload = operand.type.value_type if isinstance(operand.type, ValueType) else None
    if isinstance(payload, MemRefType | UnrankedMemRefType):
        name = "tfrtAsyncEmplaceStored"
        # The offset of the first pointer in a descriptor: see `llvm_types`.
        given.append("0" if isinstance(payload, MemRefType) else "8")
        text = "the value is made available before anything is stored in it"
        given.append(body.module.failure(text, op))
    elif runtime.UNSEEN in op.attributes:
        name = "tfrtAsyncEmplaceUnseen"
    _runtime(body, name, *given)


def _set_error(body: FunctionBody, op: Operation) -> None:
    is_late = runtime.UNLESS_AVAILABLE in op.attributes
    name = "tfrtAsyncSetErrorUnlessAvailable" if is_late else f"{_PREFIX}SetKINDError"
    _calls(name)(body, op)


def _await(body: FunctionBody, op: Operation) -> None:
    """Wait, and record where, for the report of objects that are never resolved."""
    _runtime(body, "tfrtAsyncAwait", body.name(op.operands[0]), body.module.maker(op) or "null")


def _await_and_resume(body: FunctionBody, op: Operation) -> None:
    awaited, handle = map(body.name, op.operands)
    function = op.parent_op()
    if function is not None and SHARED_BODY in function.attributes:
        # Several tasks share the body, so the place is that of one of them.
        result = body.name(function.regions[0].blocks[0].args[0])
        _runtime(body, "tfrtAsyncAwaitAndExecuteFor", awaited, handle, RESUME, result, "0")
    else:
        place = body.module.maker(op) or "null"
        _runtime(body, "tfrtAsyncAwaitAndExecute", awaited, handle, RESUME, place)


def _is_error(body: FunctionBody, op: Operation) -> None:
    (operand,) = op.operands
    if not isinstance(operand.type, GroupType):
        # Inlined, because each await is followed by this check.
        place = body.value(f"getelementptr i8, ptr {body.name(operand)}, i64 {VALUE_STATE}")
        word = body.value(f"load atomic i64, ptr {place} acquire, align 8")
        state = body.value(f"and i64 {word}, {STATE_BITS}")
        body.set(op.results[0], f"icmp eq i64 {state}, {ERROR}")
        return
    body.bind(op.results[0], _runtime(body, f"{_PREFIX}IsGroupError", body.name(operand)))


def _payload_of(body: FunctionBody, value: SSAValue, type_: Attribute) -> str:
    """Return the address of a value's payload."""
    if llvm_type(type_) in IN_HEADER:
        return body.value(f"getelementptr i8, ptr {body.name(value)}, i64 {VALUE_PAYLOAD}")
    return _runtime(body, f"{_PREFIX}GetValueStorage", body.name(value))


def _store(body: FunctionBody, op: Operation) -> None:
    value, storage = op.operands
    pointer = _payload_of(body, storage, value.type)
    # The storage guarantees only byte alignment.
    body.emit(f"store {body.typed(value)}, ptr {pointer}, align 1")


def _load(body: FunctionBody, op: Operation) -> None:
    result = op.results[0]
    pointer = _payload_of(body, op.operands[0], result.type)
    body.set(result, f"load {llvm_type(result.type)}, ptr {pointer}, align 1")


def _add_to_group(body: FunctionBody, op: Operation) -> None:
    operand, group = op.operands
    given = [body.name(operand), body.name(group), body.module.maker(op) or "null"]
    body.bind(op.results[0], _runtime(body, "tfrtAsyncAddToGroup", *given))


def _add_ref(body: FunctionBody, op: Operation) -> None:
    _count(
        body, op, "tfrtAsyncAddRefOnTop" if runtime.ON_TOP in op.attributes else f"{_PREFIX}AddRef"
    )


def _drop_ref(body: FunctionBody, op: Operation) -> None:
    if runtime.BY_HAND not in op.attributes:
        _count(body, op, f"{_PREFIX}DropRef")
        return
    if runtime.OF_OWN in op.attributes:
        name = "tfrtAsyncDropOwnRef"
    else:
        name = (
            "tfrtAsyncDropRefOnTop" if runtime.ON_TOP in op.attributes else "tfrtAsyncDropRefByHand"
        )
    kind = runtime.runtime_kind(op.operands[0]).removeprefix("AllIn").lower()
    _count(body, op, name, body.module.failure(f"a reference to a {kind} is dropped too often", op))


def _count(body: FunctionBody, op: Operation, function: str, *more: str) -> None:
    count = op.properties["count"]
    assert isinstance(count, IntegerAttr)
    _runtime(body, function, body.name(op.operands[0]), str(count.value.data), *more)


def _stack_is_low(body: FunctionBody, op: Operation) -> None:
    if body.has_limit:
        # The address of a variable, because that of the frame would cost a register.
        here, limit = body.first("alloca i8"), STACK_LIMIT
        if body.module.attempts:
            limit = body.value(f"load ptr, ptr {limit}")
    else:
        # A variable of a coroutine may be on the heap, so this uses the frame's address.
        limit = _runtime(body, "tfrtAsyncStackLimit")
        here = body.call("llvm.frameaddress.p0", "ptr", ("i32", "0"))
    is_low = body.value(f"icmp ult ptr {here}, {limit}")
    body.bind(op.results[0], seldom(body, is_low) if body.module.attempts else is_low)


def _interrupt_is_pending(body: FunctionBody, op: Operation) -> None:
    if body.module.attempts:
        burn_fuel(body, op)
        return
    body.module.watches_interrupts = True
    flag = body.value(f"load ptr, ptr {INTERRUPT_FLAG}, !invariant.load !{{}}")
    # Volatile because the word changes while the loop runs.
    pending = body.value(f"icmp ne i64 {body.value(f'load volatile i64, ptr {flag}')}, 0")
    body.bind(op.results[0], seldom(body, pending))


def _handle_of(body: FunctionBody, op: Operation) -> None:
    body.set(op.results[0], f"ptrtoint ptr {body.name(op.operands[0])} to i64")


def _from_handle(body: FunctionBody, op: Operation) -> None:
    body.set(op.results[0], f"inttoptr i64 {body.name(op.operands[0])} to ptr")


def _is_interrupted(body: FunctionBody, op: Operation) -> None:
    if body.module.attempts:
        ask_to_stop(body, op)
        return
    record = body.module.failure("", op)
    body.bind(op.results[0], _runtime(body, "tfrtAsyncIsInterrupted", record))


def _describe_error(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, extensions.RuntimeDescribeErrorOp)
    record = body.module.failure(op.message.data, op)
    _runtime(body, "tfrtAsyncDescribeError", body.name(op.operand), record)


def _fail(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, extensions.RuntimeFailOp)
    if not body.module.attempts:  # the executor finds the error, and reports it
        _runtime(body, "tfrtAsyncFail", body.module.failure(op.message.data, op))


def _coro_id(body: FunctionBody, op: Operation) -> None:
    nothing = ("ptr", "null")
    arguments = ("i32", "0"), nothing, nothing, nothing
    body.bind(op.results[0], body.call("llvm.coro.id", "token", *arguments))


def _coro_begin(body: FunctionBody, op: Operation) -> None:
    """Allocate the frame with the size that LLVM computes."""
    _count_coroutine(body, 1)
    memory = _runtime(body, "tfrtAsyncAllocateFrame", *_frame_size(body))
    arguments = body.argument(op.operands[0]), ("ptr", memory)
    body.bind(op.results[0], body.call("llvm.coro.begin", "ptr", *arguments))


def _frame_size(body: FunctionBody) -> tuple[str, str]:
    return body.call("llvm.coro.size.i64", "i64"), body.call("llvm.coro.align.i64", "i64")


def _coro_free(body: FunctionBody, op: Operation) -> None:
    memory = body.call("llvm.coro.free", "ptr", *map(body.argument, op.operands))
    _runtime(body, "tfrtAsyncFreeFrame", memory, *_frame_size(body))
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
    # Operations between await and suspension, such as a dropped reference, must happen in any case.
    if (
        body.looks_ahead
        and isinstance(wait, runtime.RuntimeAwaitAndResumeOp)
        and isinstance(suspend, runtime.CoroSuspendOp)
    ):
        awaited = wait.operands[0]
        target = _where_no_error(suspend.resume, awaited)
        if not any(block.args for block in (target, *suspend.successors)):
            body.branch_off(_runtime(body, "tfrtAsyncGoesOn", body.name(awaited)), target)
    body.bind(op.results[0], body.call("llvm.coro.save", "token", body.argument(op.operands[0])))


def _where_no_error(block: Block, awaited: SSAValue) -> Block:
    """Return the block, or its immediate successor for an awaited object that is not an error."""
    check = block.first_op
    if isinstance(check, runtime.RuntimeIsErrorOp) and check.operand is awaited:
        choice = check.next_op
        if isinstance(choice, cf.ConditionalBranchOp) and choice.cond is check.is_error:
            return choice.else_block
    return block


def _coro_suspend(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, runtime.CoroSuspendOp)
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


def _log(body: FunctionBody, op: Operation) -> None:
    """Log a block once in an activation: otherwise, a loop would log each iteration."""
    assert isinstance(op, extensions.RuntimeLogOp)
    number = op.site.value.data
    site, logged = body.module.site(number, op), body.flag(number)
    if op.event.data == "enter":
        entered = _runtime(body, "tfrtAsyncLogEnter", site)
        body.emit(f"store i64 {entered}, ptr {logged}")
    elif op.event.data == "leave":
        # Nothing is known here about a call that another function made; a continuation is such a
        # function.
        _runtime(body, "tfrtAsyncLogLeave", site, body.value(f"load i64, ptr {logged}"))
    else:
        body.module.declare("tfrtAsyncLogBlock", "void", "ptr")
        body.module.helpers[_ONCE] = _LOG_ONCE
        wanted = "true" if op.condition is None else body.name(op.condition)
        body.emit(f"call void {_ONCE}(ptr {site}, ptr {logged}, i1 {wanted})")


LOWERINGS: dict[str, Lowering] = {
    extensions.RuntimeLogOp.name: _log,
    runtime.RuntimeCreateOp.name: _create,
    runtime.RuntimeCreateGroupOp.name: _create_group,
    runtime.RuntimeSetAvailableOp.name: _set_available,
    runtime.RuntimeSetErrorOp.name: _set_error,
    runtime.RuntimeIsErrorOp.name: _is_error,
    runtime.RuntimeAwaitOp.name: _await,
    runtime.RuntimeAwaitAndResumeOp.name: _await_and_resume,
    runtime.RuntimeResumeOp.name: _calls(f"{_PREFIX}Execute", RESUME),
    runtime.RuntimeStoreOp.name: _store,
    runtime.RuntimeLoadOp.name: _load,
    runtime.RuntimeAddToGroupOp.name: _add_to_group,
    runtime.RuntimeAddRefOp.name: _add_ref,
    runtime.RuntimeDropRefOp.name: _drop_ref,
    extensions.RuntimeAddRefsOp.name: _calls(f"{_PREFIX}AddRef"),
    runtime.RuntimeNumWorkerThreadsOp.name: _calls("mlirAsyncRuntimGetNumWorkerThreads"),
    extensions.RuntimeStackIsLowOp.name: _stack_is_low,
    extensions.RuntimeIsCancelledOp.name: _calls("tfrtAsyncIsCancelled"),
    extensions.RuntimeIsAvailableOp.name: _calls("tfrtAsyncIsAvailable"),
    extensions.RuntimeHandleOfOp.name: _handle_of,
    extensions.RuntimeFromHandleOp.name: _from_handle,
    extensions.RuntimeInterruptIsPendingOp.name: _interrupt_is_pending,
    extensions.RuntimeIsInterruptedOp.name: _is_interrupted,
    extensions.RuntimeDescribeErrorOp.name: _describe_error,
    extensions.RuntimeInheritErrorOp.name: _calls("tfrtAsyncInheritError"),
    extensions.RuntimeTakeFailureOp.name: _calls("tfrtAsyncTakeFailure"),
    extensions.RuntimeFailOp.name: _fail,
    extensions.RuntimeFailFromOp.name: _calls("tfrtAsyncFailFrom"),
    runtime.CoroIdOp.name: _coro_id,
    runtime.CoroBeginOp.name: _coro_begin,
    runtime.CoroFreeOp.name: _coro_free,
    runtime.CoroEndOp.name: _coro_end,
    runtime.CoroSaveOp.name: _coro_save,
    runtime.CoroSuspendOp.name: _coro_suspend,
}
