"""The errors of native code on one schedule.

The message of each failure names the address, the allocation, and the threads involved. The
explorer adds the schedule and the table of events.
"""

from __future__ import annotations

from tests.simulator.trace import Event, render


class SimulationError(AssertionError):
    """A guarantee of native code does not hold on this schedule.

    `schedule` replays it; `events` are its events, in order. Both are empty until the explorer has
    run the schedule again to record them.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.schedule: tuple[int, ...] = ()
        self.events: tuple[Event, ...] = ()

    def __str__(self) -> str:
        if not self.events:
            return self.message
        schedule = list(self.schedule) if len(self.schedule) < 100 else "in the error"
        return f"{self.message}\n{render(self.events)}\nreplay with schedule {schedule}"


class UseAfterFree(SimulationError):
    """An access to an allocation that was released before."""


class DoubleFree(SimulationError):
    """A release of a block that was released before, or that `allocate` never returned."""


class OutOfBounds(SimulationError):
    """An access outside every allocation."""


class Misaligned(SimulationError):
    """An access at an address that is not a multiple of its size."""


class UninitializedRead(SimulationError):
    """A read of bytes that were never written."""


class DataRace(SimulationError):
    """Unordered accesses to a word by two threads: one or both write, and one or both are plain."""


class BadCall(SimulationError):
    """A call through an address that is not a function."""


class Deadlock(SimulationError):
    """Threads sleep and no thread is left to wake them: a lost wake-up."""


class Livelock(SimulationError):
    """Threads spin, and no thread is left to change what they read."""


class Leak(SimulationError):
    """An allocation that was neither released nor kept after all threads had exited."""


class WrongOutcome(SimulationError):
    """A failed assertion of the scenario, or an exception in a thread."""


class WrongSchedule(SimulationError):
    """The schedule to follow does not fit the scenario."""
