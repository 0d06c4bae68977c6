"""Simulated threads: greenlets of one Python thread, and what each is about to do.

A thread stops before every operation that other threads can notice and says which one it is.  Between
two of them it runs alone, so that only their order is explored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum

from greenlet import getcurrent, greenlet  # type: ignore[import-untyped]
from tests.simulator.words import Word


class Kind(IntEnum):
    """Operations that other threads can notice.  From SLEEP on, one may have to wait its turn."""

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
    """A thread's sleep on a futex.  `version` is the wake-up's place in the history of the queue."""

    timeout_ns: int
    may_return_early: bool
    woken: bool = False
    version: int = 0


class Thread:
    """One simulated thread.  `MAIN` is the scenario itself, before and after all the others.

    `clock` is the vector clock of what happens before the thread's next access; `seen` adds what
    sequentially consistent fences have shown it, which orders values but excuses no data race.
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
        # What a spin loop has looked at since it last wrote: while nothing of it changes, another
        # turn changes nothing.
        self.observed: dict[Word, int] = {}
        self.wrote = False
        self.calls_of_now = 0
        self.slept_ns = 0
        self.context = 0
        self._greenlet: greenlet = getcurrent()

    @property
    def name(self) -> str:
        """What the scenario calls the thread."""
        return self.names[self.index]

    def prepare(self, body: Callable[[], object]) -> None:
        """Let the thread run `body` when it is resumed for the first time."""

        def run() -> None:
            body()
            self.finished = True

        self._greenlet = greenlet(run)

    def resume(self) -> None:
        """Run the thread on from where it stopped; returns when another thread resumes the caller."""
        self._greenlet.switch()

    def abandon(self) -> None:
        """End a thread in the middle of its work, without a trace."""
        if self.started and not self.finished:
            self._greenlet.throw()

    def can_run(self) -> bool:
        """Whether the operation that the thread is about to do is possible now."""
        if self.finished:
            return False
        if self.kind < Kind.SLEEP or self.time_is_up:
            return True
        if self.kind is Kind.PAUSE:
            return not self.observed or self._sees_a_change()
        return self.sleep is None or self.sleep.woken or self.sleep.may_return_early

    def readable_versions(self) -> list[int]:
        """The versions of its word that the thread, which is about to load it, may read."""
        return [] if self.word is None else [m.version for m in self.word.visible(self.seen)]

    def learn(self, clock: Iterable[int], seen: Iterable[int]) -> None:
        """What another thread published is before everything that this one does from now on."""
        join(self.clock, clock)
        join(self.seen, seen)

    def tick(self) -> None:
        """Start a new time: what follows is not covered by the clocks handed out so far."""
        self.clock[self.index] += 1
        self.seen[self.index] = self.clock[self.index]

    @property
    def time(self) -> int:
        """The thread's own time."""
        return self.clock[self.index]

    def _sees_a_change(self) -> bool:
        return any(word.messages[-1].version > seen for word, seen in self.observed.items())


def join(clock: list[int], other: Iterable[int]) -> None:
    """Make `clock` the least clock after both."""
    for index, time in enumerate(other):
        clock[index] = max(clock[index], time)
