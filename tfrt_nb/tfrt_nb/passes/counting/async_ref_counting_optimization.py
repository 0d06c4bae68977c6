"""References that the code around a task drops anyway are handed to the task (D90716).

    async.add_ref %v {count = 1 : i32}
    %t = async.execute {                    =>    %t = async.execute {
      async.await %v                                async.await %v
      async.drop_ref %v {count = 1 : i32}           async.drop_ref %v {count = 1 : i32}
      async.yield                                   async.yield
    }                                             }
    async.drop_ref %v {count = 1 : i32}

Runs after `async-ref-counting`, on the same high-level operations.  A pair in one block with equal
counts cancels unless the value is used between them by a task or a call and, after that, by
anything else: the task or the callee may have dropped the last reference by then.
`async-runtime-ref-counting-opt` does the same for calls.

Counts stay in loops, as such a loop may be left early once it is lowered.  `async-hoist-ref-counts`
takes them out after that, where no way out is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.runtime import AddRefOp, DropRefOp
from tfrt_nb.dialects.async_.tasks import ExecuteOp
from tfrt_nb.passes.counting.async_runtime_ref_counting_opt import Pairs, erase_pairs
from tfrt_nb.passes.counting.reference_counts import CALLS


@dataclass(frozen=True)
class AsyncRefCountingOptimization(ModulePass):
    """Erases pairs around tasks that cancel."""

    name: ClassVar[str] = "async-ref-counting-optimization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        erase_pairs(op, Pairs(AddRefOp, DropRefOp, CALLS | {ExecuteOp}))
