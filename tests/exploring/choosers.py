"""Simple ways to decide a run: a given schedule, all schedules, or random ones.

`reduction` has the chooser that skips schedules that are equivalent to others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.simulator.failures import WrongSchedule
from tests.simulator.footprints import Access
from tests.simulator.threads import Thread


class _ByChoiceAlone:
    """Decides without regard to what the steps do."""

    def performed(self, thread: Thread, accesses: Sequence[Access]) -> None:
        pass

    def time_passed(self) -> None:
        pass


class FollowSchedule(_ByChoiceAlone):
    """Takes decisions from a list, and option 0 after its end."""

    def __init__(self, schedule: Sequence[int]) -> None:
        self._schedule = schedule
        self._taken = 0

    def next_thread(self, options: Sequence[Thread], preempts: bool) -> int:
        return self._decide(len(options))

    def next_value(self, thread: Thread, labels: Sequence[int]) -> int:
        return self._decide(len(labels))

    def _decide(self, options: int) -> int:
        if options == 1:
            return 0
        choice = self._schedule[self._taken] if self._taken < len(self._schedule) else 0
        self._taken += 1
        if choice >= options:
            raise WrongSchedule(
                f"decision {self._taken} is {choice}, but there are {options} options"
            )
        return choice


@dataclass(slots=True)
class _Decision:
    choice: int
    options: int
    is_free: bool


class AllSchedules(_ByChoiceAlone):
    """Every run, depth first, one after another; after each, `advance` moves on to the next.

    With a `budget`, only runs with at most that many unexpected decisions: a thread is interrupted
    although it could continue, or an operation has an unusual result. Most bugs show with one or
    two of these.
    """

    def __init__(self, budget: int | None = None) -> None:
        self._budget = budget
        self._path: list[_Decision] = []
        self._depth = 0
        self._spent = 0

    def next_thread(self, options: Sequence[Thread], preempts: bool) -> int:
        return self._decide(len(options), is_free=not preempts)

    def next_value(self, thread: Thread, labels: Sequence[int]) -> int:
        return self._decide(len(labels), is_free=False)

    def _decide(self, options: int, is_free: bool) -> int:
        if options == 1:
            return 0
        if self._depth == len(self._path):
            is_broke = self._budget is not None and self._spent >= self._budget
            self._path.append(_Decision(0, 1 if is_broke and not is_free else options, is_free))
        decision = self._path[self._depth]
        self._depth += 1
        self._spent += decision.choice != 0 and not decision.is_free
        return decision.choice

    def advance(self) -> bool:
        """Prepare the next run; return False if there is none."""
        self._depth = self._spent = 0
        while self._path:
            decision = self._path[-1]
            decision.choice += 1
            if decision.choice < decision.options:
                return True
            self._path.pop()
        return False


class RandomSchedules(_ByChoiceAlone):
    """Runs with random priorities that change at a few random steps (PCT).

    A bug that needs d ordered events shows in a run of n threads and k steps with probability 1 /
    (n * k ** (d - 1)) or better, which uniform choices do not promise.
    """

    CHANGES = 3

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._length = 50
        self._begin()

    def _begin(self) -> None:
        self._step = 0
        self._priorities: dict[int, float] = {}
        self._change_at = {self._random.randrange(self._length) for _ in range(self.CHANGES)}

    def next_thread(self, options: Sequence[Thread], preempts: bool) -> int:
        self._step += 1
        for thread in options:
            self._priorities.setdefault(thread.index, 1 + self._random.random())
        best = max(options, key=self._priority)
        if self._step in self._change_at:
            self._priorities[best.index] = -self._step
            best = max(options, key=self._priority)
        return options.index(best)

    def _priority(self, thread: Thread) -> float:
        return self._priorities[thread.index]

    def next_value(self, thread: Thread, labels: Sequence[int]) -> int:
        if len(labels) == 1 or self._random.random() < 0.75:
            return 0
        return self._random.randrange(len(labels))

    def advance(self) -> bool:
        """Prepare the next run, which always exists."""
        self._length = max(self._length, self._step)
        self._begin()
        return True
