"""Every outcome of a small program: each run takes another order of the steps that may notice it.

A stateless search: each run starts anew with the choices recorded so far.  Orders that cannot make a
difference are left out by dynamic partial-order reduction (Flanagan and Godefroid, 2005) with sleep sets.
A step is a kernel or the part of a task between two awaits: what happens within is one piece.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import Self

from tfrt_nb.documents.previews import clean, label, preview_of, visible
from tfrt_nb.documents.program import ProgramDocument, Row, body_of
from tfrt_nb.programs import Program
from tfrt_nb.schedules.chosen import PATIENCE_SECONDS, ChosenHost, Step
from tfrt_nb.schedules.memory import early_tasks, memory_races
from tfrt_nb.schedules.uses import OUTPUT, Judge, Place, Uses, shared
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, counted, error
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.values.async_value import AsyncValue

MAX_SCHEDULES = 5_000
MAX_SECONDS = 10.0
RUN_SECONDS = 10.0
MAX_SHOWN = 20
"""So many outcomes are shown."""
_MAX_LINES = 12
_NEVER = "never there"


@dataclass(frozen=True)
class Outcome:
    """What a run came to: the texts of its results, what it printed, its errors in any order."""

    values: tuple[str, ...]
    printed: str = ""
    errors: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The results, what was printed, the errors; a line each."""
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
    """Two operations that nothing orders and that touch one buffer, at least one of them writing."""

    first: int
    second: int


@dataclass
class Schedules:
    """The schedules that lead to an outcome: how many, and the choices and operations of one."""

    count: int
    choices: tuple[int, ...]
    operations: tuple[int, ...]
    """The ids of the operations that were chosen, in order; -1 for a task."""


@dataclass
class Exploration:
    """What was found: the outcomes in the order in which they were, and whether these are all."""

    outcomes: dict[Outcome, Schedules] = field(default_factory=dict)
    races: list[Race] = field(default_factory=list)
    early: list[int] = field(default_factory=list)
    """The operations that start tasks whose runs before the code that goes on were not tried."""
    schedules: int = 0
    is_complete: bool = False

    def text(self, document: ProgramDocument, replay: str = "") -> str:
        """How many outcomes and schedules there are, the races, then each outcome.

        With `replay`, a command that takes the choices of a schedule, each outcome has a schedule.
        """
        return "\n".join(self._lines(document.data["operations"], replay)) + "\n"

    def _lines(self, operations: Sequence[Row], replay: str) -> Iterator[str]:
        outcomes = counted(len(self.outcomes), "outcome")
        limit = "" if self.is_complete else ", which are not all: the limit was reached"
        yield f"{outcomes} in {counted(self.schedules, 'schedule')}{limit}"
        if self.early:
            lines = ", ".join(str(operations[number]["line"]) for number in self.early)
            yield (
                "orders not tried: a task runs before the code that started it goes on"
                f" (line {lines})"
            )
        for race in self.races:
            yield "race: nothing orders these two, and both touch one buffer"
            for number in (race.first, race.second):
                row = operations[number]
                yield f"  line {row['line']}: {row['text']}"
        for number, (outcome, schedule) in enumerate(self.outcomes.items(), 1):
            if number > MAX_SHOWN:
                yield f"and {counted(len(self.outcomes) - MAX_SHOWN, 'outcome')} more"
                return
            yield f"outcome {number}, {counted(schedule.count, 'schedule')}"
            yield from outcome.text.splitlines()
            if replay:
                order = (
                    f"line {operations[o]['line']}" if o >= 0 else "task"
                    for o in schedule.operations
                )
                yield f"  schedule: {', '.join(order) or 'no operation waits for a choice'}"
                yield f"  replay: {replay} {','.join(map(str, schedule.choices)) or '0'}"


@dataclass
class _Node:
    """A state with a choice, by keys: what may run, what need not, what must be tried, what was."""

    enabled: set[int]
    asleep: dict[int, Uses]
    todo: set[int] = field(default_factory=set)
    done: dict[int, Uses] = field(default_factory=dict)
    current: int = 0


@dataclass
class _Done:
    """A step that has run: `before` are the steps that made it ready, `node` its choice or -1."""

    key: int
    operation: int
    kernel: str
    uses: Uses
    before: frozenset[int]
    node: int


class _Restart(Exception):
    """A kernel that was thought to do nothing that others notice has printed."""


class Explorer:
    """Explores one function of a program, within its own `with`."""

    def __init__(
        self,
        program: Program,
        function: str,
        arguments: Sequence[object] = (),
        document: ProgramDocument | None = None,
    ) -> None:
        """
        Raises:
            TfrtError: at a run, if the program cannot be loaded, or the function takes other arguments.
        """
        self._program, self._function, self._arguments = program, function, arguments
        self.document = ProgramDocument(program) if document is None else document
        names = [kernel.name for one in program.file.functions for kernel in one.kernels]
        operations = [str(row["kernel"]) for row in self.document.data["operations"]]
        memory = any(name in ("memref.store", "memref.atomic_rmw") for name in operations)
        self._judge = Judge(names, memory=memory)
        self._host = ChosenHost(self._choose)
        self._nodes: list[_Node] = []
        self._forced: tuple[int, ...] | None = None
        self._races: dict[Race, None] = {}
        self._order = _Order(self.document)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._host.close()

    def explore(self, *, most: int = MAX_SCHEDULES, seconds: float = MAX_SECONDS) -> Exploration:
        """All outcomes, or those of so many schedules, or of so much time."""
        while True:
            try:
                found = self._explore(most, time.monotonic() + seconds)
            except _Restart:
                self._nodes.clear()
                self._races.clear()
            else:
                found.races += starmap(Race, memory_races(self.document, label(self._function)))
                found.early = early_tasks(self.document)
                return found

    def replay(self, choices: Sequence[int], *, watch: bool = True) -> tuple[Execution, Outcome]:
        """A run with these choices, which is over; for `documents.RunDocument` if it is watched.

        After the last choice, the oldest ready step runs.

        Raises:
            TfrtError: if a choice is not ready.
        """
        self._forced = tuple(choices)
        try:
            while True:
                try:
                    return self._run(watch=watch)
                except _Restart:  # now the kernels that print are known
                    continue
        finally:
            self._forced = None

    # One run

    def _run(self, *, watch: bool = False) -> tuple[Execution, Outcome]:
        self._steps: list[_Done] = []
        self._chosen: list[_Done] = []
        self._made: dict[int, frozenset[int]] = {}
        self._handles: dict[int, frozenset[int]] = {}
        self._depth, self._is_blocked, self._restart = 0, False, False
        self._refusal: Diagnostic | None = None
        self._host.begin()
        self._judge.begin()
        printed: list[str] = []

        def output(text: str) -> None:
            printed.append(text)
            if self._steps:
                last = self._steps[-1]
                if last.node < 0 and last.kernel and OUTPUT not in last.uses.writes:
                    self._judge.noisy.add(last.kernel)
                    self._restart = True
                last.uses = Uses(last.uses.reads, last.uses.writes | {OUTPUT})

        run = self._program.run(
            function=self._function,
            arguments=self._arguments,
            host=self._host.host,
            output=output,
            watch=watch,
        )
        is_over = run.wait(self._patience())
        values = tuple(_text(value) for value in run.results)
        errors = tuple(sorted(clean(one.message) for one in run.diagnostics))
        if not is_over:
            run.cancel("the schedule is abandoned")
            run.wait(1)
        if self._host.problem is not None:
            raise self._host.problem
        if self._restart:
            raise _Restart
        if self._refusal is not None:
            raise TfrtError(self._refusal)
        return run, Outcome(values, "".join(printed), errors)

    def _patience(self) -> float:
        """How long a run is waited for: where an argument is missing, as long as for what threads resolve."""
        given = [value for value in self._arguments if isinstance(value, AsyncValue)]
        return RUN_SECONDS if all(value.done() for value in given) else PATIENCE_SECONDS

    def _choose(self, ready: Mapping[int, Step]) -> Step:
        latest = frozenset({len(self._steps) - 1}) if self._steps else frozenset()
        for key in ready:
            self._made.setdefault(key, latest)
        enabled: dict[int, tuple[Step, Uses]] = {}
        for key, step in ready.items():
            uses = self._judge.uses(step)
            if uses is None:  # its order makes no difference: now
                self._note(step, Uses(), -1)
                return step
            enabled[key] = step, uses
        key = self._pick(set(enabled))
        step, uses = enabled[key]
        self._note(step, uses, self._depth - 1)
        return step

    def _note(self, step: Step, uses: Uses, node: int) -> None:
        number, before = len(self._steps), self._made.pop(step.key)
        operation, kernel = -1, ""
        if step.program is None:
            before |= self._handles.get(step.handle, frozenset())
            self._handles[step.handle] = frozenset({number})
        else:
            kernel = step.program.kernel_name(step.kernel)
            operation = self.document.operation_of(step.kernel)
        self._steps.append(_Done(step.key, operation, kernel, uses, before, node))
        if node >= 0:
            self._chosen.append(self._steps[-1])

    def _pick(self, enabled: set[int]) -> int:
        """As recorded; behind that, anything that no other run stands for."""
        depth, self._depth = self._depth, self._depth + 1
        if self._forced is not None:
            wanted = self._forced[depth] if depth < len(self._forced) else min(enabled)
            if wanted in enabled:
                return wanted
            # Raised after the run: as long as kernels are found to print, choices have other numbers.
            ready = ", ".join(map(str, sorted(enabled)))
            self._refusal = self._refusal or error(
                f"no schedule has these choices: number {depth + 1} is {wanted}, but {ready} can be"
                " chosen there; --explore prints the choices of each outcome"
            )
            return min(enabled)
        if depth == len(self._nodes):
            asleep: dict[int, Uses] = {}
            if depth:
                parent, last = self._nodes[depth - 1], self._chosen[depth - 1].uses
                slept = parent.asleep | parent.done
                asleep = {k: u for k, u in slept.items() if k in enabled and not shared(u, last)}
            free = sorted(enabled - set(asleep))
            self._is_blocked |= not free
            self._nodes.append(_Node(enabled, asleep, current=(free or sorted(enabled))[0]))
        return self._nodes[depth].current

    # The search

    def _explore(self, most: int, end: float) -> Exploration:
        found = Exploration()
        while True:
            _, outcome = self._run()
            if not self._is_blocked:
                found.schedules += 1
                schedules = found.outcomes.get(outcome)
                if schedules is None:
                    choices = tuple(step.key for step in self._chosen)
                    operations = tuple(step.operation for step in self._chosen)
                    found.outcomes[outcome] = Schedules(1, choices, operations)
                else:
                    schedules.count += 1
            self._find_races()
            found.is_complete = not self._advance()
            if found.is_complete or found.schedules >= most or time.monotonic() > end:
                found.races = list(self._races)
                self._nodes.clear()
                return found

    def _find_races(self) -> None:
        """Note where another order of two steps that touch the same is worth a run."""
        clocks: list[set[int]] = []
        needed: list[set[int]] = []
        for j, step in enumerate(self._steps):
            before = set(step.before)
            causes = set(step.before)
            for i in step.before:
                before |= clocks[i]
                causes |= needed[i]
            for i in range(j - 1, -1, -1):
                other = self._steps[i]
                places = shared(other.uses, step.uses)
                if places and i not in causes:
                    self._note_race(other, step, places)
                if places and i not in before:
                    if other.node >= 0:
                        self._reverse(i, j, clocks, before)
                    before |= clocks[i]
            clocks.append(before | {j})
            needed.append(causes)

    def _note_race(self, one: _Done, other: _Done, places: frozenset[Place]) -> None:
        first, second = sorted((one.operation, other.operation))
        if first < 0 or not any(isinstance(place, int) for place in places):
            return
        race = Race(first, second)
        if race not in self._races and not self._order.is_given(first, second):
            self._races[race] = None

    def _reverse(self, i: int, j: int, clocks: list[set[int]], before: set[int]) -> None:
        """Try what leads to step j in the place of step i; all that is enabled there if not known."""
        node = self._nodes[self._steps[i].node]
        for k in range(i + 1, j + 1):
            leads = k == j or (k in before and i not in clocks[k])
            if leads and self._steps[k].key in node.enabled:
                node.todo.add(self._steps[k].key)
                return
        node.todo |= node.enabled

    def _advance(self) -> bool:
        """Go on to the next choice that is to be tried; False if there is none."""
        while self._nodes:
            node = self._nodes[-1]
            if len(self._chosen) >= len(self._nodes):
                node.done[node.current] = self._chosen[len(self._nodes) - 1].uses
            left = sorted(node.todo - set(node.done) - set(node.asleep))
            if left:
                node.current = left[0]
                return True
            self._nodes.pop()
        return False


class _Order:
    """Which operations wait for which, by what they give to each other in the text."""

    def __init__(self, document: ProgramDocument) -> None:
        self._rows = document.data["operations"]
        makers = [row["op"] for row in document.data["values"]]
        self._users: list[set[int]] = [set() for _ in self._rows]
        for row in self._rows:
            for value in row["operands"]:
                maker = makers[value]
                if maker is not None:
                    self._users[maker].add(self._beside(row["id"], maker))

    def is_given(self, first: int, second: int) -> bool:
        """Whether one of two operations waits for the other, or nothing is known of their order."""
        second = self._beside(second, first)
        first = self._beside(first, second)
        if first == second or body_of(self._rows[first]) != body_of(self._rows[second]):
            return True
        return self._leads(first, second) or self._leads(second, first)

    def _beside(self, number: int, other: int) -> int:
        """The operation around `number` that is in the body of `other`; itself if there is none."""
        outer: int | None = number
        while outer is not None:
            if body_of(self._rows[outer]) == body_of(self._rows[other]):
                return outer
            outer = self._rows[outer]["parent"]
        return number

    def _leads(self, source: int, target: int) -> bool:
        seen, waiting = {source}, [source]
        while waiting:
            for user in self._users[waiting.pop()] - seen:
                if user == target:
                    return True
                seen.add(user)
                waiting.append(user)
        return False


def _text(value: AsyncValue) -> str:
    if not value.done():
        return _NEVER
    problem = value.exception(0)
    if problem is not None:
        return f"error: {preview_of(value)}"
    payload = value.payload()
    # An address is another one in each run.
    has_text = (
        type(payload).__str__ is not object.__str__ or type(payload).__repr__ is not object.__repr__
    )
    return preview_of(value) if has_text else f"<{type(payload).__name__}>"
