"""What a program counts at its tasks by hand, and what the functions of these tasks take on top.

    async.add_ref %t {count = 1 : i32}              async.runtime.add_ref %t {count = 1 : i64}
    %u = async.execute [%t, %t] {            =>     async.runtime.add_ref %t {count = 1 : i64}
      async.drop_ref %t {count = 1 : i32}           %u = call @async_execute_fn(%t, %t) : ...
      async.yield
    }

On the high-level operations a task holds at most one reference of a value, which its body drops.  A
function owns each of its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tfrt_nb.dialects.async_.runtime import AddRefOp, DropRefOp
from tfrt_nb.dialects.async_.tasks import ExecuteOp
from tfrt_nb.passes.control_flow import operations_in

EARLY_COUNTING = frozenset({AddRefOp, DropRefOp})
"""The operations that count where tasks are tasks yet."""


def counts_tasks(module: ModuleOp) -> bool:
    """Whether a program counts on the high-level operations, where a task holds references of
    its own.
    """
    return any(type(op) in EARLY_COUNTING for op in operations_in(module))


class TaskCounts:
    """Which values a program counts by hand, at its tasks: `async.add_ref` and `async.drop_ref`.

    Read before any task is outlined, as outlining replaces the values that bodies use.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._originals: dict[SSAValue, SSAValue] = {}
        self._inside: set[tuple[Operation | None, SSAValue]] = set()
        self._at: set[tuple[Operation | None, SSAValue]] = set()
        for op in operations_in(module):
            if type(op) in EARLY_COUNTING:
                value, task = op.operands[0], _task_around(op)
                self._at.add((task, value))
                while task is not None:
                    self._inside.add((task, value))
                    task = _task_around(task)

    def replaced(self, task: ExecuteOp, call: Operation) -> None:
        """Note that the results of `call` are used instead of those of `task`."""
        self._originals.update(zip(call.results, task.results, strict=True))

    def missing(self, task: ExecuteOp, taken: Sequence[SSAValue]) -> Iterator[tuple[SSAValue, int]]:
        """The values that the code around `task` counts, and how many references each needs more to
        call its body.

        A body takes a reference for each of the `taken` arguments; the program gave the task one if
        it drops that in the body, and none otherwise.
        """
        outer = _task_around(task)
        for value in dict.fromkeys(taken):
            original = self._originals.get(value, value)
            if (outer, original) in self._at:
                more = sum(one is value for one in taken) - ((task, original) in self._inside)
                if more:
                    yield value, more


def _task_around(op: Operation) -> Operation | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ExecuteOp):
        parent = parent.parent_op()
    return parent
