"""The results of an exploration: outcomes, races, and the schedules that lead to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tfrt_nb.documents.escapes import visible
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.documents.walks import Row
from tfrt_nb.schedules.uses import Uses
from tfrt_runtime.diagnostics import counted

MAX_SHOWN = 20
"""The maximum number of outcomes that are printed."""
_MAX_LINES = 12


OF_ONE_RUN = re.compile(
    r"((?:base@ = |pointer=| at )(?=0x)|BM:.*\((?:ns|percent)\): )[0-9a-fx.e+]+"
)
"""Matches text that differs from run to run: addresses, and times of `tfrt_test.benchmark`."""
LATE = "the time for schedules has run out"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: its results as text, its output, and its errors in sorted order."""

    values: tuple[str, ...]
    printed: str = ""
    errors: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The results, the output, and the errors, one per line."""
        is_one = len(self.values) == 1
        lines = [f"result{'' if is_one else f' {i}'} = {v}" for i, v in enumerate(self.values)]
        printed = visible(self.printed).splitlines()
        lines += printed[:_MAX_LINES]
        if len(printed) > _MAX_LINES:
            lines.append(f"and {counted(len(printed) - _MAX_LINES, 'line')} more")
        lines += [f"error: {visible(message)}" for message in self.errors]
        return "".join(f"  {line}\n" for line in lines)


@dataclass(frozen=True)
class Race:
    """A pair of unordered operations that touch one buffer. At least one of them writes."""

    first: int
    second: int


@dataclass
class Schedules:
    """The schedules that lead to one outcome.

    `count` is the number of schedules. `choices` and `operations` describe one of them.
    """

    count: int
    choices: tuple[int, ...]
    operations: tuple[int, ...]
    """The ids of the chosen operations, in order; -1 for a task."""
    other: tuple[int, ...] = ()
    """The operations of a second schedule, or an empty tuple."""
    reads_unwritten: bool = False
    """Whether the outcome depends on memory that was never written."""


@dataclass
class Exploration:
    """The outcomes and races that a search of a function's schedules has found.

    `outcomes` are in the order of discovery. `is_complete` says whether they are all the outcomes.
    """

    outcomes: dict[Outcome, Schedules] = field(default_factory=dict)
    races: list[Race] = field(default_factory=list)
    schedules: int = 0
    is_complete: bool = False
    steps: int = 0
    """How many steps had run in the unfinished schedule when the time was up.

    This is 0 if the time was up between two schedules.
    """

    def text(self, document: ProgramDocument, replay: str = "") -> str:
        """Return the counts of outcomes and schedules, the races, and each outcome, as text.

        If `replay` is given, it is a command that takes a schedule's choices, and each outcome is
        printed with the command for one of its schedules.
        """
        return "\n".join(self._lines(document.data["operations"], replay)) + "\n"

    def _lines(self, operations: Sequence[Row], replay: str) -> Iterator[str]:
        outcomes = counted(len(self.outcomes), "outcome")
        limit = "" if self.is_complete else ", which are not all: the limit was reached"
        if self.steps:
            limit += f", {counted(self.steps, 'step')} into schedule {self.schedules + 1}"
        yield f"{outcomes} in {counted(self.schedules, 'schedule')}{limit}"
        for race in self.races:
            yield "race: these two operations are unordered and access the same buffer"
            for number in (race.first, race.second):
                row = operations[number]
                yield f"  line {row['line']}: {row['text']}"
        for number, (outcome, schedule) in enumerate(self.outcomes.items(), 1):
            if number > MAX_SHOWN:
                yield f"and {counted(len(self.outcomes) - MAX_SHOWN, 'outcome')} more"
                return
            yield f"outcome {number}, {counted(schedule.count, 'schedule')}"
            yield from outcome.text.splitlines()
            if schedule.reads_unwritten:
                yield "  it reads memory that was never written"
            if replay:
                known = [f"line {operations[o]['line']}" for o in schedule.operations if o >= 0]
                order = known or ["task"] * len(schedule.operations)
                yield f"  schedule: {', '.join(order) or 'no operation waits for a choice'}"
                yield f"  replay: {replay} {','.join(map(str, schedule.choices)) or '0'}"


@dataclass
class Node:
    """A state in which several steps may run. Its fields hold the keys of steps.

    Steps in `enabled` may run. Those in `asleep` need not be tried, those in `todo` must be tried,
    and those in `done` have been tried.
    """

    enabled: set[int]
    asleep: dict[int, Uses]
    todo: set[int] = field(default_factory=set)
    done: dict[int, Uses] = field(default_factory=dict)
    current: int = 0


@dataclass
class Done:
    """A step that has run.

    `before` contains the steps that made this step ready. `node` is the choice that picked this
    step, or -1. `operation` is the kernel's operation or, for compiled code, an operation on the
    line of the first effect. `operation` is -1 if there is none.
    """

    key: int
    operation: int
    kernel: str
    uses: Uses
    before: frozenset[int]
    node: int


class Restart(Exception):
    """Raised if a kernel that was assumed to have no visible effect has printed."""
