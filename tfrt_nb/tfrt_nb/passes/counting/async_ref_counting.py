"""Count references automatically on the high-level operations, as the dialect's original review
(D90716) proposed.

    %t = async.execute {                    async.add_ref %v {count = 1 : i32}
      async.await %v                  =>    %t = async.execute {
      async.yield                             async.await %v
    }                                         async.drop_ref %v {count = 1 : i32}
                                              async.yield
                                            }
                                            async.drop_ref %v {count = 1 : i32}

Code after a task may run before the task does, so the order of operations does not tell which use
is the last. Therefore each task that uses a value, as an operand or in its body, holds its own
reference from right before it starts to its end, and so does each task around it.
`reference_counts` does the rest.

Calls own their async arguments, so each use in a call takes a reference, too.

A body that fails does not reach its end. Its paths to the error appear only in the lowering to
coroutines; after that, `async-drop-on-error-paths` adds the drops that these paths skip.

An optimization then passes references that the code around a task drops anyway on to the task.

    async.add_ref %v {count = 1 : i32}
    %t = async.execute {                    =>    %t = async.execute {
      async.await %v                                async.await %v
      async.drop_ref %v {count = 1 : i32}           async.drop_ref %v {count = 1 : i32}
      async.yield                                   async.yield
    }                                             }
    async.drop_ref %v {count = 1 : i32}

The optimization runs after `async-ref-counting`, on the same high-level operations. A pair in one
block with equal counts cancels unless, between them, a task or a call uses the value and then any
other operation uses it, because the task or the callee may have dropped the last reference by then.
`async-runtime-ref-counting-opt` does the same for calls.

Counts stay in loops, because lowering may add early exits to a loop. After the lowering,
`async-hoist-ref-counts` moves them out of loops without such exits.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.runtime import AddRefOp, DropRefOp, RuntimeAddRefOp, RuntimeDropRefOp
from tfrt_nb.dialects.async_.tasks import ExecuteOp
from tfrt_nb.passes.control_flow import Emitter, ancestors, defining_block, fail, region_of
from tfrt_nb.passes.counting.async_runtime_ref_counting_opt import erase_pairs
from tfrt_nb.passes.counting.reference_counts import (
    CALLS,
    Counts,
    async_values,
    carrying_operations,
    drop_references,
    lower_carried_values,
    structured_around,
    take_references_for_calls,
)

_COUNTS = Counts(AddRefOp, DropRefOp)


@dataclass(frozen=True)
class AsyncRefCounting(ModulePass):
    """Adds `async.add_ref` and `async.drop_ref`."""

    name: ClassVar[str] = "async-ref-counting"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in op.walk():
            if isinstance(nested, AddRefOp | DropRefOp | RuntimeAddRefOp | RuntimeDropRefOp):
                fail(nested, "explicit reference counting is not supported")
        for carrying in carrying_operations(op):
            *_, outermost = carrying, *structured_around(carrying)
            # The body of a task is one block until it is outlined, so no loop in it can be lowered.
            if isinstance(outermost.parent_op(), ExecuteOp):
                text = f"'{carrying.name}' in a task carries async values"
                fail(carrying, f"{text}: count references after lowering")
        lower_carried_values(op)
        values = async_values(op)
        # Tasks and calls take their references first, as new uses, before the drops are placed.
        for value in values:
            for task in _tasks_using(value):
                Emitter.in_front_of(task)(AddRefOp(value))
                Emitter.in_front_of(task.terminator)(DropRefOp(value))
            take_references_for_calls(value, _COUNTS)
        drop_references(values, _COUNTS)


def _tasks_using(value: SSAValue) -> list[ExecuteOp]:
    """Return the tasks that use the value, and the tasks around them up to the value's own region,
    each once.
    """
    region = region_of(defining_block(value))
    tasks: dict[ExecuteOp, None] = {}
    for use in value.uses:
        around = itertools.takewhile(lambda op: op is not region.parent, ancestors(use.operation))
        for op in (use.operation, *around):
            if isinstance(op, ExecuteOp):
                tasks[op] = None
    return list(tasks)


@dataclass(frozen=True)
class AsyncRefCountingOptimization(ModulePass):
    """Erases pairs around tasks that cancel."""

    name: ClassVar[str] = "async-ref-counting-optimization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        erase_pairs(op, _COUNTS, CALLS | {ExecuteOp})
