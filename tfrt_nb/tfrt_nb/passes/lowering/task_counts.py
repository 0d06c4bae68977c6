"""References that a program counts by hand at its tasks, and those that functions need.

    async.add_ref %t {count = 1 : i32}              async.runtime.add_ref %t {count = 1 : i64}
    %u = async.execute [%t, %t] {            =>     async.runtime.add_ref %t {count = 1 : i64}
      async.drop_ref %t {count = 1 : i32}           %u = call @async_execute_fn(%t, %t) : ...
      async.yield
    }

In the high-level operations, a task holds at most one reference to a value, which its body drops.
An outlined function owns each of its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Operation, SSAValue

from tfrt_nb.dialects.async_.runtime import AddRefOp, DropRefOp
from tfrt_nb.dialects.async_.tasks import ExecuteOp
from tfrt_nb.passes.control_flow import Emitter, operations_in

EARLY_COUNTING = frozenset({AddRefOp, DropRefOp})
"""The operations that count references while tasks are still high-level operations."""


def counts_tasks(module: ModuleOp) -> bool:
    """Return whether a program counts on the high-level operations.

    A task holds references of its own there.
    """
    return any(type(op) in EARLY_COUNTING for op in operations_in(module))


class TaskCounts:
    """The values that a program counts by hand at its tasks: `async.add_ref` and `async.drop_ref`.

    They are read before any task is outlined, because outlining replaces the values that bodies
    use.
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
        """Record that the results of `call` replace those of `task`."""
        self._originals.update(zip(call.results, task.results, strict=True))

    def missing(self, task: ExecuteOp, taken: Sequence[SSAValue]) -> Iterator[tuple[SSAValue, int]]:
        """Yield the values counted around `task`, and how many more references its body needs.

        A body takes a reference for each of the `taken` arguments. If the body drops a value, the
        program gave the task one reference to it already, and otherwise none.
        """
        outer = _task_around(task)
        for value in dict.fromkeys(taken):
            original = self._originals.get(value, value)
            if (outer, original) in self._at:
                more = sum(one is value for one in taken) - ((task, original) in self._inside)
                if more:
                    yield value, more


def write_out_handed_on(module: ModuleOp) -> None:
    """Where a task only hands a counted value to a call, write down the reference that it holds.

    The call owns what it takes, so it takes the reference of the task.  Counting passes cancel the
    two operations that are added here; without them, nothing in the body would say that the program
    counts the value.
    """
    counts = {op.operands[0]: op for op in operations_in(module) if type(op) in EARLY_COUNTING}
    for op in operations_in(module):
        task = _task_around(op)
        for value in op.operands if type(op) is CallOp and task is not None else ():
            uses = [use.operation for use in value.uses if _task_around(use.operation) is task]
            if value in counts and uses == [op]:
                for kind, end in ((AddRefOp, op), (DropRefOp, task.terminator)):
                    Emitter.in_front_of(end)(kind(value)).attributes |= counts[value].attributes


def _task_around(op: Operation) -> ExecuteOp | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ExecuteOp):
        parent = parent.parent_op()
    return parent
