"""Copy a program for lowering.

A program must not contain the attributes with which passes inform each other, so the copy omits
them. Some operations rely on facts that only passes know, for instance that a number is the handle
of an object. A program that contains such an operation is rejected.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.dialects.async_.extensions import (
    RuntimeCompareExchangeOp,
    RuntimeFreeBufferOp,
    RuntimeFromHandleOp,
    RuntimeHandleOfOp,
    RuntimeIsLiveOp,
    RuntimeIsWritableOp,
    RuntimeLogOp,
    RuntimeSpawnOp,
)
from tfrt_nb.dialects.async_.runtime import BY_HAND, OF_OWN, ON_TOP, UNLESS_AVAILABLE
from tfrt_nb.passes.buffers.guard_buffers import IN_BOUNDS
from tfrt_nb.passes.control_flow import fail, operations_in
from tfrt_nb.passes.lowering.await_in_calls import FALLIBLE, FAST_PATH
from tfrt_nb.passes.lowering.coroutines import (
    GIVEN_RESULTS,
    JOINS,
    RESOLVED_BY_HAND,
    SHARED_BODY,
    UNINTERRUPTED,
)
from tfrt_nb.passes.safety.interruptible_loops import NEVER_WRAPS

MARKS = frozenset(
    {
        IN_BOUNDS,
        NEVER_WRAPS,
        JOINS,
        UNINTERRUPTED,
        FALLIBLE,
        FAST_PATH,
        GIVEN_RESULTS,
        SHARED_BODY,
        ON_TOP,
        BY_HAND,
        OF_OWN,
        UNLESS_AVAILABLE,
        RESOLVED_BY_HAND,
    }
)
"""The attributes with which passes inform later passes.

A source program could forge any attribute that is missing here.
"""
_OF_PASSES = frozenset(
    {
        RuntimeSpawnOp,
        RuntimeHandleOfOp,
        RuntimeFromHandleOp,
        RuntimeFreeBufferOp,
        RuntimeIsLiveOp,
        RuntimeIsWritableOp,
        RuntimeCompareExchangeOp,
        RuntimeLogOp,
    }
)


def copy_program(module: ModuleOp) -> ModuleOp:
    """Return a copy with source locations, but without value names.

    Raises:
        PassError: if the module has an operation or attribute that only passes may use.
    """
    copy = module.clone(clone_name_hints=False)
    for op in operations_in(copy):
        if type(op) in _OF_PASSES:
            fail(op, f"'{op.name}' is reserved for passes: programs cannot have it")
        for mark in op.attributes.keys() & MARKS:
            if mark == FALLIBLE:
                # This attribute cannot simply be dropped, because the function's failure flag would
                # become an ordinary result.
                fail(op, f"'{mark}' is an attribute of passes: programs cannot have it")
            del op.attributes[mark]
    return copy
