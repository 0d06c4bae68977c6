"""The base of every part of a simulated machine: its properties, heap, scheduler, and events."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from tests.simulator.failures import UninitializedRead
from tests.simulator.heap import Heap
from tests.simulator.scheduler import Chooser, Scheduler
from tests.simulator.threads import Thread
from tests.simulator.trace import Event
from tests.simulator.words import Allocation


class MemoryModel(Enum):
    """The values that a load may return: only the newest, or all that `words` describes."""

    SEQUENTIAL = "sequential"
    RELEASE_ACQUIRE = "release-acquire"


@dataclass(frozen=True, slots=True)
class Machine:
    """The properties of a simulated machine.

    `early_returns` is how often each thread's `futex_wait` with a time limit may time out while
    others can still run. With `spurious_wakeups`, any `futex_wait` may also return early for no
    reason, with time left. `spin_limit` is the number of turns that spinning threads get while
    nothing changes.
    """

    model: MemoryModel = MemoryModel.RELEASE_ACQUIRE
    early_returns: int = 1
    spurious_wakeups: bool = False
    spin_limit: int = 100
    step_limit: int = 5000
    trace: bool = False


class Core:
    """The heap, the threads, and the events of one run."""

    def __init__(self, chooser: Chooser, machine: Machine) -> None:
        self.machine = machine
        self.events: list[Event] = []
        self.refuses: Callable[[], bool] = lambda: False
        """Called at each allocation; returns whether the system has no memory for it."""
        self._heap = Heap()
        self._scheduler = Scheduler(chooser, machine.spin_limit, machine.step_limit)

    def _undefined(self, address: int) -> UninitializedRead:
        who = self._scheduler.current.name
        return UninitializedRead(f"{who} reads {self._heap.name(address)}, which was never written")

    def _tell(
        self,
        thread: Thread,
        operation: str,
        address: int,
        *,
        old: int | None = None,
        new: int | None = None,
        note: str = "",
    ) -> None:
        if self.machine.trace:
            label = self._heap.name(address) if address else ""
            self._add_event(thread, operation, address, label, old, new, native_caller(), note)

    def _tell_lifetime(self, thread: Thread, operation: str, block: Allocation) -> None:
        if self.machine.trace:
            note = f"{block.size} bytes"
            place = native_caller()
            self._add_event(thread, operation, block.address, block.title, place=place, note=note)

    def _tell_failure(self, message: str) -> None:
        if self.machine.trace:
            self._add_event(self._scheduler.current, "fails", note=message)

    def _add_event(
        self,
        thread: Thread,
        operation: str,
        address: int = 0,
        label: str = "",
        old: int | None = None,
        new: int | None = None,
        place: str = "",
        note: str = "",
    ) -> None:
        step = self._scheduler.steps
        self.events.append(
            Event(step, thread.name, operation, address, label, old, new, place, note)
        )


def native_caller() -> str:
    """Return the name of the function that called into `memory`."""
    frame = sys._getframe(2)
    while frame.f_back is not None and _is_plumbing(frame.f_globals["__name__"]):
        frame = frame.f_back
    return frame.f_code.co_name.strip("<>")


def _is_plumbing(module: str) -> bool:
    return module.startswith(__package__) or module.endswith("native.memory")
