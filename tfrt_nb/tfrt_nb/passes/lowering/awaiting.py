"""Awaits and assertions, in coroutines and outside of them.

In a coroutine an await suspends and an assertion branches to the error block; in a plain function an
await blocks the thread and an assertion stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Operation, Region, SSAValue

from tfrt_nb.dialects.async_.extensions import RuntimeCheckInterruptOp, RuntimeCheckOp
from tfrt_nb.dialects.async_.runtime import RuntimeAwaitOp, RuntimeIsErrorOp, RuntimeLoadOp
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp, ExecuteOp
from tfrt_nb.dialects.async_.types import ValueType
from tfrt_nb.passes.control_flow import Emitter, replace
from tfrt_nb.passes.lowering.convert_scf_to_cf import (
    enclosing_loops_and_branches,
    lower_structured_control_flow,
)
from tfrt_nb.passes.lowering.coroutines import (
    Coroutine,
    ErrorStyle,
    branch_on_failure,
    fail_if_interrupted,
    suspend_until,
    suspend_until_resolved,
)

JOINS = "joins"
"""The attribute of a call: if it fails, what the next operation awaits is still waited for.

A parallel loop that fails leaves nothing running behind that uses the buffers of its surroundings.
"""
UNINTERRUPTED = "uninterrupted"
"""The attribute of a loop that is not left when its run is cancelled.

What starts the members of a group starts all of them: else an await of the group would never end.
"""
WAITING = AwaitOp | AwaitAllOp | RuntimeAwaitOp
"""The operations that wait."""
_BRANCHING = frozenset({AwaitOp, AwaitAllOp, RuntimeAwaitOp, RuntimeCheckInterruptOp, cf.AssertOp})
_FAILED = "Awaited async operand is in error state"


def outside_tasks(region: Region) -> Iterator[Operation]:
    """The operations of the region, nested ones included, but not those in the body of a task."""
    for block in region.blocks:
        for op in block.ops:
            yield op
            if type(op) is not ExecuteOp:
                for nested in op.regions:
                    yield from outside_tasks(nested)


def make_single_level(region: Region, matters: Callable[[Operation], bool]) -> None:
    """Lower the structured control flow around operations that matter, tasks left aside."""
    around: set[Operation] = set()
    for op in outside_tasks(region):
        if matters(op):
            for outer in enclosing_loops_and_branches(op, region):
                if outer in around:
                    break
                around.add(outer)
    if around:
        lower_structured_control_flow(region, lambda op: op in around)


def suspend_at_awaits(coroutine: Coroutine) -> None:
    """Turn what can wait or fail in the coroutine, outside its tasks, into branches."""
    body = coroutine.function.body
    make_single_level(body, lambda op: type(op) in _BRANCHING)
    # From the end: what a block is split off from is then always short.
    for op in reversed(list(outside_tasks(body))):
        match op:
            case AwaitOp() | AwaitAllOp():
                suspend_until(coroutine, op, op.operand)
            case RuntimeAwaitOp():
                suspend_until_resolved(coroutine, op, op.operand)
            case cf.AssertOp():
                branch_on_failure(coroutine, op)
            case RuntimeCheckInterruptOp():
                fail_if_interrupted(coroutine, op)
            case _:
                pass


def block_at_await(op: AwaitOp | AwaitAllOp, style: ErrorStyle) -> None:
    """Replace an await in a plain function: block the thread, fail if the object is in error."""
    emit = Emitter.in_front_of(op)
    awaited = op.operand
    emit(RuntimeAwaitOp(awaited))
    if style.keep:
        emit(RuntimeCheckOp(awaited))
    else:
        _assert_not_in_error(emit, awaited)
    payload = [emit(RuntimeLoadOp(awaited)).result] if isinstance(awaited.type, ValueType) else []
    replace(op, payload)


def _assert_not_in_error(emit: Emitter, awaited: SSAValue) -> None:
    failed = emit(RuntimeIsErrorOp(awaited)).is_error
    true = emit(arith.ConstantOp(IntegerAttr(1, i1))).result
    succeeded = emit(arith.XOrIOp(failed, true)).result
    emit(cf.AssertOp(succeeded, _FAILED))
