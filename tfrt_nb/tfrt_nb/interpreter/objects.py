"""`async.runtime` and `async.coro`: calls of the core's functions, as machine code makes them.

An object is its address. A coroutine is a generator: where machine code suspends, it yields the
results of its function. See `machine`, which resumes it.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.async_ import extensions, runtime
from tfrt_nb.dialects.async_.types import GroupType, ValueType
from tfrt_nb.internal_errors import location_of
from tfrt_nb.interpreter import buffers
from tfrt_nb.interpreter.machine import RESUME
from tfrt_nb.interpreter.memory import Storage, storage_of
from tfrt_nb.interpreter.numbers import Lowering
from tfrt_nb.interpreter.source import FunctionSource
from tfrt_nb.jit.function_body import source_name
from tfrt_nb.jit.llvm_types import llvm_type
from tfrt_nb.jit.operations.async_runtime import IN_HEADER
from tfrt_nb.passes.lowering.coroutines import SHARED_BODY, given_results
from tfrt_runtime.native.layouts import VALUE_PAYLOAD

_PREFIX = "mlirAsyncRuntime"


def _calls(name: str, *, is_bit: bool = False) -> Lowering:
    """Lower to a call with the operands; KIND in the name is the runtime's name of the first."""

    def lower(body: FunctionSource, op: Operation) -> None:
        kind = runtime.runtime_kind(op.operands[0]) if "KIND" in name else ""
        call = body.abi(name.replace("KIND", kind), *map(body.name, op.operands))
        if op.results:
            body.let(op.results[0], f"{call} & 1" if is_bit else call)
        else:
            body.line(call)

    return lower


def maker(body: FunctionSource, op: Operation) -> int:
    """Return a record of which operation makes an object and where, or 0."""
    place = location_of(op)
    return 0 if place is None else body.module.records.record(source_name(op), place)


def _failure(body: FunctionSource, op: Operation, message: str) -> int:
    return body.module.records.record(message, location_of(op))


def _create(body: FunctionSource, op: Operation) -> None:
    [result] = op.results
    record = maker(body, op)
    if isinstance(result.type, ValueType):
        size = storage_of(result.type.value_type).size
        body.let(result, body.abi("tfrtAsyncCreateValue", size, record))
    elif isinstance(result.type, GroupType):
        body.let(result, body.abi("tfrtAsyncCreateGroup", body.name(op.operands[0]), record))
    else:
        body.let(result, body.abi("tfrtAsyncCreateToken", record))


def _set_available(body: FunctionSource, op: Operation) -> None:
    [operand] = op.operands
    payload = operand.type.value_type if isinstance(operand.type, ValueType) else None
    given: list[object] = [body.name(operand)]
    name = f"{_PREFIX}Emplace{runtime.runtime_kind(operand)}"
    if isinstance(payload, MemRefType | UnrankedMemRefType):
        name = "tfrtAsyncEmplaceStored"
        text = "the value is made available before anything is stored in it"
        given += [0 if isinstance(payload, MemRefType) else 8, _failure(body, op, text)]
    elif runtime.UNSEEN in op.attributes:
        name = "tfrtAsyncEmplaceUnseen"
    body.line(body.abi(name, *given))


def _is_error(body: FunctionSource, op: Operation) -> None:
    [operand] = op.operands
    kind = "Group" if isinstance(operand.type, GroupType) else runtime.runtime_kind(operand)
    _calls(f"{_PREFIX}Is{kind}Error", is_bit=True)(body, op)


def _set_error(body: FunctionSource, op: Operation) -> None:
    is_late = runtime.UNLESS_AVAILABLE in op.attributes
    name = "tfrtAsyncSetErrorUnlessAvailable" if is_late else f"{_PREFIX}SetKINDError"
    _calls(name)(body, op)


def payload_of(value: str, type_: Attribute, body: FunctionSource) -> tuple[str, Storage]:
    """Return where a value has its payload, and how that is stored."""
    storage = storage_of(type_)
    if llvm_type(type_) in IN_HEADER:
        return f"{value} + {VALUE_PAYLOAD}", storage
    return body.abi(f"{_PREFIX}GetValueStorage", value), storage


def _store(body: FunctionSource, op: Operation) -> None:
    value, target = op.operands
    address, storage = payload_of(body.name(target), value.type, body)
    buffers.store(body, storage, address, body.name(value))


def _load(body: FunctionSource, op: Operation) -> None:
    [result] = op.results
    address, storage = payload_of(body.name(op.operands[0]), result.type, body)
    body.let(result, buffers.load(body, storage, address))


def _await(body: FunctionSource, op: Operation) -> None:
    """Wait if the object is not resolved; other threads need the interpreter meanwhile."""
    name = body.name(op.operands[0])
    wait = body.keep(body.module.machine.wait)
    body.line(f"{wait}({name}, {maker(body, op)})")


def _add_to_group(body: FunctionSource, op: Operation) -> None:
    operands = *map(body.name, op.operands), maker(body, op)
    body.let(op.results[0], body.abi("tfrtAsyncAddToGroup", *operands))


def _count(body: FunctionSource, op: Operation) -> None:
    count = op.properties["count"]
    assert isinstance(count, IntegerAttr)
    given: list[object] = [body.name(op.operands[0]), count.value.data]
    is_drop = isinstance(op, runtime.RuntimeDropRefOp)
    on_top, by_hand = runtime.ON_TOP in op.attributes, runtime.BY_HAND in op.attributes
    if is_drop and by_hand:
        name = "tfrtAsyncDropRefOnTop" if on_top else "tfrtAsyncDropRefByHand"
        if runtime.OF_OWN in op.attributes:
            name = "tfrtAsyncDropOwnRef"
        kind = runtime.runtime_kind(op.operands[0]).removeprefix("AllIn").lower()
        given.append(_failure(body, op, f"a reference to a {kind} is dropped too often"))
    elif is_drop:
        name = f"{_PREFIX}DropRef"
    else:
        name = "tfrtAsyncAddRefOnTop" if on_top else f"{_PREFIX}AddRef"
    body.line(body.abi(name, *given))


def _stack_is_low(body: FunctionSource, op: Operation) -> None:
    body.let(op.results[0], f"d > {body.module.machine.deepest}")


def _interrupt_is_pending(body: FunctionSource, op: Operation) -> None:
    machine = body.module.machine
    flag, noted = body.keep(machine.flag), body.keep(machine.noted)
    body.let(op.results[0], f"{flag}[0] or {noted}[0]")


def _is_interrupted(body: FunctionSource, op: Operation) -> None:
    call = body.keep(body.module.machine.is_interrupted)
    body.let(op.results[0], f"{call}({_failure(body, op, '')})")


def _same(body: FunctionSource, op: Operation) -> None:
    body.bind(op.results[0], body.name(op.operands[0]))


def _describe_error(body: FunctionSource, op: Operation) -> None:
    assert isinstance(op, extensions.RuntimeDescribeErrorOp)
    record = _failure(body, op, op.message.data)
    body.line(body.abi("tfrtAsyncDescribeError", body.name(op.operand), record))


def _fail(body: FunctionSource, op: Operation) -> None:
    assert isinstance(op, extensions.RuntimeFailOp)
    body.line(body.abi("tfrtAsyncFail", _failure(body, op, op.message.data)))


def _log(body: FunctionSource, op: Operation) -> None:
    """Log a block once in an activation: otherwise, a loop would log each iteration."""
    assert isinstance(op, extensions.RuntimeLogOp)
    site, logged = body.module.site(op), f"s{op.site.value.data}"
    body.first(f"{logged} = 0")
    if op.event.data == "enter":
        body.line(f"{logged} = {body.abi('tfrtAsyncLogEnter', site)}")
    elif op.event.data == "leave":
        body.line(body.abi("tfrtAsyncLogLeave", site, logged))
    else:
        condition = "" if op.condition is None else f" and {body.name(op.condition)}"
        body.line(f"if not {logged}{condition}:")
        with body.indented():
            body.line(f"{logged} = 1")
            body.line(body.abi("tfrtAsyncLogBlock", site))


# Coroutines


def _coro_begin(body: FunctionSource, op: Operation) -> None:
    body.bind(op.results[0], "h.handle")
    leave = body.op.body.blocks[-1].last_op
    assert leave is not None
    objects = given_results(body.op) or leave.operands
    names = "".join(f"{body.name(one)}, " for one in objects)
    body.line(f"{body.keep(body.module.machine.begin)}(h, ({names}))")


def _coro_free(body: FunctionSource, op: Operation) -> None:
    buffers.end_buffers(body)
    body.line(f"{body.keep(body.module.machine.finish)}(h)")


def _nothing(body: FunctionSource, op: Operation) -> None:
    """The generator has no such step."""


def _coro_save(body: FunctionSource, op: Operation) -> None:
    """Write an await that only a suspension follows: it suspends only if it has to wait."""
    wait = op.next_op
    suspend = None if wait is None else wait.next_op
    if isinstance(wait, runtime.RuntimeAwaitAndResumeOp) and isinstance(
        suspend, runtime.CoroSuspendOp
    ):
        body.skipped.update((wait, suspend))
        body.line(f"if not {body.abi('tfrtAsyncGoesOn', body.name(wait.operands[0]))} & 1:")
        with body.indented():
            _await_and_resume(body, wait)
            _suspend(body, suspend)


def _await_and_resume(body: FunctionSource, op: Operation) -> None:
    awaited = body.name(op.operands[0])
    if SHARED_BODY in body.op.attributes:
        # Several tasks share the body, so the place is that of one of them.
        result = body.name(body.op.body.blocks[0].args[0])
        name = "tfrtAsyncAwaitAndExecuteFor"
        body.line(body.abi(name, awaited, "h.handle", RESUME, result, 0))
    else:
        place = maker(body, op)
        body.line(body.abi("tfrtAsyncAwaitAndExecute", awaited, "h.handle", RESUME, place))


def _resume(body: FunctionSource, op: Operation) -> None:
    body.line("h.begins = True")


def _suspend(body: FunctionSource, op: Operation) -> None:
    assert isinstance(op, runtime.CoroSuspendOp)
    leave = op.suspend.last_op
    assert isinstance(leave, func.ReturnOp)
    names = [*map(body.name, leave.arguments)]
    results = names[0] if len(names) == 1 else f"({', '.join(names)})"
    depth = "d = " if body.module.counts_calls else ""
    body.line(f"{depth}yield {results}")


LOWERINGS: dict[str, Lowering] = {
    extensions.RuntimeLogOp.name: _log,
    runtime.RuntimeCreateOp.name: _create,
    runtime.RuntimeCreateGroupOp.name: _create,
    runtime.RuntimeSetAvailableOp.name: _set_available,
    runtime.RuntimeSetErrorOp.name: _set_error,
    runtime.RuntimeIsErrorOp.name: _is_error,
    runtime.RuntimeAwaitOp.name: _await,
    runtime.RuntimeAwaitAndResumeOp.name: _await_and_resume,
    runtime.RuntimeResumeOp.name: _resume,
    runtime.RuntimeStoreOp.name: _store,
    runtime.RuntimeLoadOp.name: _load,
    runtime.RuntimeAddToGroupOp.name: _add_to_group,
    runtime.RuntimeAddRefOp.name: _count,
    runtime.RuntimeDropRefOp.name: _count,
    extensions.RuntimeAddRefsOp.name: _calls(f"{_PREFIX}AddRef"),
    runtime.RuntimeNumWorkerThreadsOp.name: _calls("mlirAsyncRuntimGetNumWorkerThreads"),
    extensions.RuntimeStackIsLowOp.name: _stack_is_low,
    extensions.RuntimeIsCancelledOp.name: _calls("tfrtAsyncIsCancelled", is_bit=True),
    extensions.RuntimeIsAvailableOp.name: _calls("tfrtAsyncIsAvailable", is_bit=True),
    extensions.RuntimeHandleOfOp.name: _same,
    extensions.RuntimeFromHandleOp.name: _same,
    extensions.RuntimeInterruptIsPendingOp.name: _interrupt_is_pending,
    extensions.RuntimeIsInterruptedOp.name: _is_interrupted,
    extensions.RuntimeDescribeErrorOp.name: _describe_error,
    extensions.RuntimeInheritErrorOp.name: _calls("tfrtAsyncInheritError"),
    extensions.RuntimeTakeFailureOp.name: _calls("tfrtAsyncTakeFailure"),
    extensions.RuntimeFailOp.name: _fail,
    extensions.RuntimeFailFromOp.name: _calls("tfrtAsyncFailFrom"),
    runtime.CoroIdOp.name: _nothing,
    runtime.CoroBeginOp.name: _coro_begin,
    runtime.CoroFreeOp.name: _coro_free,
    runtime.CoroEndOp.name: _nothing,
    runtime.CoroSaveOp.name: _coro_save,
    runtime.CoroSuspendOp.name: _suspend,
}
