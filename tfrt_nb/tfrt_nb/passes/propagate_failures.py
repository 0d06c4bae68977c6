"""Assertions in plain functions make the function fail, not the process.

    func.func @f(%ok: i1) -> i64 {            func.func @f(%ok: i1) -> (i1, i64) attributes {fallible} {
      cf.assert %ok, "no"                       cf.cond_br %ok, ^go, ^fail
      return %x : i64                   =>    ^go:
    }                                           return %false, %x : i1, i64
                                              ^fail:
                                                async.runtime.fail "no"
                                                return %true, %poison : i1, i64
                                              }

A function that can fail returns first whether it did.  Callers test that: plain functions fail as well,
coroutines set their results to the error.  The failed call's own results are not used; async ones are
objects that are in error, so that their references can be counted like any others.

Runs after the lowering to coroutines and before reference counting, which then sees every way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, ub
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    i1,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.failures import (
    RuntimeCheckOp,
    RuntimeFailFromOp,
    RuntimeFailOp,
    RuntimeTakeFailureOp,
)
from tfrt_nb.dialects.async_.runtime import (
    RuntimeAwaitAndResumeOp,
    RuntimeAwaitOp,
    RuntimeCreateOp,
    RuntimeIsErrorOp,
    RuntimeSetErrorOp,
)
from tfrt_nb.dialects.async_.types import TokenType, ValueType
from tfrt_nb.passes.awaiting import JOINS, make_single_level
from tfrt_nb.passes.control_flow import Emitter, erase, replace
from tfrt_nb.passes.coroutines import Coroutine, finished_coroutine, suspend_at_end

FALLIBLE = "fallible"
"""The attribute of a function whose first result tells whether it failed."""


@dataclass(frozen=True)
class PropagateFailures(ModulePass):
    """Replaces `cf.assert` and `async.runtime.check` in plain functions."""

    name: ClassVar[str] = "async-propagate-failures"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [nested for nested in op.body.block.ops if isinstance(nested, FuncOp)]
        coroutines = {function: finished_coroutine(function) for function in functions}
        plain = [function for function in functions if coroutines[function] is None]
        fallible = _fallible_functions(plain)
        for function in functions:
            _propagate(function, coroutines[function], fallible)


def _fallible_functions(functions: list[FuncOp]) -> set[str]:
    """The names of the functions that fail themselves or call one that does."""
    fallible: set[str] = set()
    while True:
        more = {
            function.sym_name.data
            for function in functions
            if any(_can_fail(op, fallible) for op in function.walk())
        }
        if more == fallible:
            return fallible
        fallible = more


def _can_fail(op: Operation, fallible: set[str]) -> bool:
    return isinstance(op, cf.AssertOp | RuntimeCheckOp) or _calls(op, fallible)


def _calls(op: Operation, fallible: set[str]) -> bool:
    return isinstance(op, CallOp) and op.callee.root_reference.data in fallible


def _propagate(function: FuncOp, coroutine: Coroutine | None, fallible: set[str]) -> None:
    if function.is_declaration:
        return
    make_single_level(function.body, lambda op: _can_fail(op, fallible))
    if function.sym_name.data in fallible:
        _return_success(function)
    # From the end: what a block is split off from is then always short.
    for op in reversed(list(_points_of_failure(function, fallible))):
        _branch_on_failure(op, function, coroutine)


def _points_of_failure(function: FuncOp, fallible: set[str]) -> Iterator[Operation]:
    for block in function.body.blocks:
        yield from (op for op in block.ops if _can_fail(op, fallible))


def _return_success(function: FuncOp) -> None:
    inputs, outputs = function.function_type.inputs, function.function_type.outputs
    function.function_type = FunctionType.from_lists(inputs.data, [i1, *outputs.data])
    function.attributes[FALLIBLE] = UnitAttr()
    for block in function.body.blocks:
        leave = block.last_op
        if isinstance(leave, ReturnOp):
            emit = Emitter.in_front_of(leave)
            failed = emit(arith.ConstantOp(IntegerAttr(0, i1))).result
            emit(ReturnOp(failed, *leave.arguments))
            erase(leave)


def _branch_on_failure(op: Operation, function: FuncOp, coroutine: Coroutine | None) -> None:
    """Split the block behind `op`: go on, or leave by a block that notes the failure."""
    block = op.parent
    assert block is not None and op.next_op is not None
    continuation = block.split_before(op.next_op)
    failure = Block()
    function.body.insert_block_before(failure, continuation)
    emit = Emitter.in_front_of(op)
    note = Emitter.at_end(failure, op.location)
    match op:
        case cf.AssertOp():
            emit(cf.ConditionalBranchOp(op.arg, continuation, (), failure, ()))
            note(RuntimeFailOp(op.msg))
        case RuntimeCheckOp():
            failed = emit(RuntimeIsErrorOp(op.operand)).is_error
            emit(cf.ConditionalBranchOp(failed, failure, (), continuation, ()))
            note(RuntimeFailFromOp(op.operand))
        case CallOp():
            call = emit(CallOp(op.callee, op.arguments, [i1, *op.res.types]))
            emit(cf.ConditionalBranchOp(call.res[0], failure, (), continuation, ()))
    joined = _joined(op, continuation)
    results = call.res[1:] if isinstance(op, CallOp) else ()
    replace(op, results)
    if coroutine is None:
        if joined is not None:
            note(RuntimeAwaitOp(joined))
        _return_failure(function, note)
    else:
        _take_failure(coroutine, note, joined)


def _joined(op: Operation, continuation: Block) -> SSAValue | None:
    """The group that has to be waited for although the call has failed."""
    if JOINS not in op.attributes:
        return None
    waits = (w for w in continuation.ops if isinstance(w, RuntimeAwaitOp | RuntimeAwaitAndResumeOp))
    return next(waits).operand


def _return_failure(function: FuncOp, emit: Emitter) -> None:
    outputs = function.function_type.outputs.data[1:]
    failed = emit(arith.ConstantOp(IntegerAttr(1, i1))).result
    emit(ReturnOp(failed, *(_unusable(type_, emit) for type_ in outputs)))


def _unusable(type_: Attribute, emit: Emitter) -> SSAValue:
    """A result that nobody reads; an async one is owned by the caller like any other."""
    if not isinstance(type_, TokenType | ValueType):
        return emit(ub.PoisonOp(type_)).result
    created = emit(RuntimeCreateOp(type_)).result
    emit(RuntimeSetErrorOp(created))
    return created


def _take_failure(coroutine: Coroutine, emit: Emitter, joined: SSAValue | None) -> None:
    for result in coroutine.results:
        emit(RuntimeTakeFailureOp(result))
    if joined is not None:
        emit = suspend_at_end(coroutine, emit.block, joined)
    emit(cf.BranchOp(coroutine.set_error))
