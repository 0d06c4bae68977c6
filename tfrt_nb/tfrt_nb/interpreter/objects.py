"""Translate `async.runtime` and `async.coro` to calls to the core's functions.

The address of an object represents the object. A coroutine is a generator: where machine code
suspends, the generator yields the results of its function. `machine` resumes the generator.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.async_ import extensions, runtime
from tfrt_nb.interpreter import buffers
from tfrt_nb.interpreter.memory import Storage, storage_of
from tfrt_nb.interpreter.numbers import Lowering
from tfrt_nb.interpreter.source import FunctionSource
from tfrt_nb.jit.llvm_types import llvm_type
from tfrt_nb.jit.runtime_calls import IN_HEADER, PREFIX, same
from tfrt_nb.jit.runtime_calls import LOWERINGS as OF_RUNTIME
from tfrt_nb.passes.control_flow import terminator_of
from tfrt_nb.passes.lowering.coroutines import given_results
from tfrt_runtime.native.layouts import VALUE_PAYLOAD


def payload_of(value: str, type_: Attribute, body: FunctionSource) -> tuple[str, Storage]:
    """Return the address and the storage of a value's payload."""
    storage = storage_of(type_)
    if llvm_type(type_) in IN_HEADER:
        return f"{value} + {VALUE_PAYLOAD}", storage
    return body.abi(f"{PREFIX}GetValueStorage", value), storage


def _store(body: FunctionSource, op: Operation) -> None:
    value, target = op.operands
    address, storage = payload_of(body.name(target), value.type, body)
    buffers.store(body, storage, address, body.name(value))


def _load(body: FunctionSource, op: Operation) -> None:
    [result] = op.results
    address, storage = payload_of(body.name(op.operands[0]), result.type, body)
    body.let(result, buffers.load(body, storage, address))


def _await(body: FunctionSource, op: Operation) -> None:
    """Wait for the object unless it is resolved.

    The wait releases the GIL, so that other threads can run Python.
    """
    name, place = body.name(op.operands[0]), body.module.maker(op) or body.null
    body.line(f"{body.keep(body.module.machine.wait)}({name}, {place})")


def _interrupt_is_pending(body: FunctionSource, op: Operation) -> None:
    machine = body.module.machine
    flag, noted = body.keep(machine.flag), body.keep(machine.noted)
    body.let(op.results[0], f"{flag}[0] or {noted}[0]")


def _is_interrupted(body: FunctionSource, op: Operation) -> None:
    call = body.keep(body.module.machine.is_interrupted)
    body.let(op.results[0], f"{call}({body.module.failure('', op)})")


def _log(body: FunctionSource, op: extensions.RuntimeLogOp) -> None:
    """Log an event of `op`.

    A block is logged only once per activation, because a loop would otherwise log each iteration.
    """
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
    leave = terminator_of(body.op.body.blocks[-1])
    names = "".join(f"{body.name(one)}, " for one in given_results(body.op) or leave.operands)
    body.line(f"{body.keep(body.module.machine.begin)}(h, ({names}))")


def _coro_free(body: FunctionSource, op: Operation) -> None:
    buffers.end_buffers(body)
    body.line(f"{body.keep(body.module.machine.finish)}(h)")


def _nothing(body: FunctionSource, op: Operation) -> None:
    """Write nothing, because a generator has no such step."""


def _coro_save(body: FunctionSource, op: Operation) -> None:
    """Write an await and the suspension right after it as one step.

    The step suspends only if it must wait.
    """
    wait = op.next_op
    suspend = None if wait is None else wait.next_op
    if isinstance(wait, runtime.RuntimeAwaitAndResumeOp) and isinstance(
        suspend, runtime.CoroSuspendOp
    ):
        # Write the next two operations here, inside a test. If the object is already resolved, the
        # generator then continues without a yield.
        body.skipped.update((wait, suspend))
        body.line(f"if not {body.abi('tfrtAsyncGoesOn', body.name(wait.operands[0]))} & 1:")
        with body.indented():
            OF_RUNTIME[wait.name](body, wait)
            _suspend(body, suspend)


def _suspend(body: FunctionSource, op: runtime.CoroSuspendOp) -> None:
    leave = op.suspend.last_op
    assert isinstance(leave, func.ReturnOp)
    names = [*map(body.name, leave.arguments)]
    results = names[0] if len(names) == 1 else f"({', '.join(names)})"
    depth = "d = " if body.module.counts_calls else ""
    body.line(f"{depth}yield {results}")


LOWERINGS: dict[str, Lowering] = {
    **OF_RUNTIME,
    extensions.RuntimeLogOp.name: _log,
    runtime.RuntimeAwaitOp.name: _await,
    # `machine.advance` passes the coroutine to the queue after the yield that follows.
    runtime.RuntimeResumeOp.name: lambda body, op: body.line("h.begins = True"),
    runtime.RuntimeStoreOp.name: _store,
    runtime.RuntimeLoadOp.name: _load,
    extensions.RuntimeStackIsLowOp.name: lambda body, op: body.let(
        op.results[0], f"d > {body.module.machine.deepest}"
    ),
    extensions.RuntimeHandleOfOp.name: same,
    extensions.RuntimeFromHandleOp.name: same,
    extensions.RuntimeInterruptIsPendingOp.name: _interrupt_is_pending,
    extensions.RuntimeIsInterruptedOp.name: _is_interrupted,
    runtime.CoroIdOp.name: _nothing,
    runtime.CoroBeginOp.name: _coro_begin,
    runtime.CoroFreeOp.name: _coro_free,
    runtime.CoroEndOp.name: _nothing,
    runtime.CoroSaveOp.name: _coro_save,
    runtime.CoroSuspendOp.name: _suspend,
}
