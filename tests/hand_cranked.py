"""A work queue whose tasks run only when a test says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol


class Done(Protocol):
    """An object to wait for."""

    def done(self) -> bool:
        """Return whether the wait is over."""


class HandCrankedQueue:
    """Keeps its tasks until `run` is called, so that a test chooses the next one.

        queue = HandCrankedQueue()
        with HostContext(queue) as host:
            run = program.run(host)
            assert queue.pending == ["my.left", "my.right"]
            queue.run(1)

    Every kernel is a separate task. A thread that waits for a run runs the remaining tasks, the
    oldest first.
    """

    name = "hand-cranked"
    parallelism_level = 1
    kernels_per_task = 1

    def __init__(self) -> None:
        self._tasks: list[Callable[[], object]] = []

    @property
    def pending(self) -> list[str]:
        """The names of the waiting tasks, in order of arrival."""
        return [getattr(task, "name", repr(task)) for task in self._tasks]

    def run(self, position: int = 0) -> None:
        """Run one of the waiting tasks.

        Raises:
            IndexError: if fewer tasks wait.
        """
        self._tasks.pop(position)()

    def drop(self, position: int = 0) -> None:
        """Discard one of the waiting tasks, which a queue must not do."""
        del self._tasks[position]

    def add_task(self, task: Callable[[], object]) -> None:
        self._tasks.append(task)

    def add_blocking_task(
        self, task: Callable[[], object], allow_queuing: bool
    ) -> Callable[[], object] | None:
        if not allow_queuing:
            return task
        self._tasks.append(task)
        return None

    def await_values(self, values: Sequence[Done]) -> None:
        while self._tasks and not all(value.done() for value in values):
            self.run()

    def quiesce(self) -> None:
        while self._tasks:
            self.run()

    def is_in_worker_thread(self) -> bool:
        return False
