"""Simulated threads: greenlets of one Python thread, and their next operations.

A thread stops before every operation that other threads can notice, and announces it. Between two
such operations it runs alone, so only their order is explored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum

from greenlet import getcurrent, greenlet  # type: ignore[import-untyped]
from tests.simulator.words import Word


class Kind(IntEnum):
    """Operations that other threads can notice.

    Those from SLEEP on may have to wait until they are possible.
    """

    LOAD = 0
    STORE = 1
    UPDATE = 2
    FENCE = 3
    NOTE = 4
    FUTEX_WAIT = 5
    FUTEX_WAKE = 6
    SLEEP = 7
    PAUSE = 8


@dataclass(slots=True)
class Sleep:
    """A thread's sleep on a futex; `version` is the wake-up's position in the queue's history."""

    timeout_ns: int
    may_return_early: bool
    woken: bool = False
    version: int = 0


class Thread:
    """One simulated thread. `MAIN` is the scenario itself, which runs before and after all others.

    `clock` is the vector clock of everything that happens before the thread's next access. `seen`
    adds what sequentially consistent fences have shown it, which orders values but does not excuse
    a data race.
    """

    MAIN = 0

    def __init__(self, index: int, names: list[str], clock: list[int]) -> None:
        self.index = index
        self.names = names
        self.clock = clock
        self.seen = list(clock)
        self.kind = Kind.STORE
        self.word: Word | None = None
        self.started = False
        self.finished = False
        self.time_is_up = False
        self.sleep: Sleep | None = None
        self.early_returns = 0
        # The words that a spin loop has read since it last wrote: unless one of them changes,
        # another turn has no effect.
        self.observed: dict[Word, int] = {}
        self.wrote = False
        self.calls_of_now = 0
        self.slept_ns = 0
        self.context = 0
        self._greenlet: greenlet = getcurrent()

    @property
    def name(self) -> str:
        """The scenario's name of the thread."""
        return self.names[self.index]

    def prepare(self, body: Callable[[], object]) -> None:
        """Let the thread run `body` when it is resumed for the first time."""

        def run() -> None:
            body()
            self.finished = True

        self._greenlet = greenlet(run)

    def resume(self) -> None:
        """Continue the thread where it stopped; return when another thread resumes the caller."""
        self._greenlet.switch()

    def abandon(self) -> None:
        """End a thread in the middle of its work, without recording it."""
        if self.started and not self.finished:
            self._greenlet.throw()

    def can_run(self) -> bool:
        """Return whether the thread's next operation is possible now."""
        if self.finished:
            return False
        if self.kind < Kind.SLEEP or self.time_is_up:
            return True
        if self.kind is Kind.PAUSE:
            return not self.observed or self._sees_a_change()
        return self.sleep is None or self.sleep.woken or self.sleep.may_return_early

    def readable_versions(self) -> list[int]:
        """Return the versions of its word that the thread may read in its next load."""
        return [] if self.word is None else [m.version for m in self.word.visible(self.seen)]

    def learn(self, clock: Iterable[int], seen: Iterable[int]) -> None:
        """Order everything that another thread published before all later steps of this one."""
        join(self.clock, clock)
        join(self.seen, seen)

    def tick(self) -> None:
        """Advance the thread's time, so that clocks given out so far do not cover later steps."""
        self.clock[self.index] += 1
        self.seen[self.index] = self.clock[self.index]

    @property
    def time(self) -> int:
        """The thread's own time."""
        return self.clock[self.index]

    def _sees_a_change(self) -> bool:
        return any(word.messages[-1].version > seen for word, seen in self.observed.items())


def join(clock: list[int], other: Iterable[int]) -> None:
    """Set `clock` to the least clock that is after both."""
    for index, time in enumerate(other):
        clock[index] = max(clock[index], time)
