"""What can be wrong with native code on one schedule.

Each failure says in its message which address, which allocation and which threads are involved.  The
explorer adds the schedule and the table of what happened.
"""

from __future__ import annotations

from tests.simulator.trace import Event, render


class SimulationError(AssertionError):
    """A promise that native code must keep does not hold on this schedule.

    `schedule` replays it; `events` is what happened, in order.  Both are empty until the explorer
    has run the schedule again to look at it closely.
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
    """A release of what was released before, or of what `allocate` never gave."""


class OutOfBounds(SimulationError):
    """An access outside every allocation."""


class Misaligned(SimulationError):
    """An access at an address that is not a multiple of its size."""


class UninitializedRead(SimulationError):
    """A read of bytes that were never written."""


class DataRace(SimulationError):
    """Two threads touch a word, one writes, one access is plain, and nothing orders them."""


class BadCall(SimulationError):
    """A call through an address that is not a function."""


class Deadlock(SimulationError):
    """Threads sleep and no thread is left to wake them: a lost wake-up."""


class Livelock(SimulationError):
    """Threads spin, and no thread is left to change what they read."""


class Leak(SimulationError):
    """An allocation that was neither released nor kept when all threads had ended."""


class WrongOutcome(SimulationError):
    """An assertion of the scenario, or an exception of a thread."""


class WrongSchedule(SimulationError):
    """A schedule to follow that does not fit the scenario."""
