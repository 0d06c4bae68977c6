"""Find every outcome of a small program by running it in each order that may make a difference.

The search is stateless: each run starts from the beginning with the choices recorded so far.
Dynamic partial-order reduction skips orders that cannot make a difference (Flanagan and Godefroid,
"Dynamic Partial-Order Reduction for Model Checking Software", POPL 2005). It is combined with sleep
sets (Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", LNCS 1032,
1996). A step is a kernel, or the part of a task up to its next await or effect
(`passes.log_events`).

Rejected alternatives:

- all interleavings, whose number grows with the factorial of the number of steps;
- random schedules, which can silently miss an outcome;
- a store of visited states, because the states of Python objects cannot be compared.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import starmap
from typing import Self

from tfrt_nb.documents.escapes import clean, label
from tfrt_nb.documents.previews import preview_of
from tfrt_nb.documents.program import ProgramDocument, body_of
from tfrt_nb.passes.control_flow import reachable
from tfrt_nb.passes.log_events import STATE as QUESTION
from tfrt_nb.programs import Program
from tfrt_nb.schedules.chosen import PATIENCE_SECONDS, ChosenHost, Step
from tfrt_nb.schedules.memory import memory_races
from tfrt_nb.schedules.outcomes import (
    LATE,
    MAX_SHOWN,
    OF_ONE_RUN,
    Done,
    Exploration,
    Node,
    Outcome,
    Race,
    Restart,
    Schedules,
)
from tfrt_nb.schedules.uses import OUTPUT, PRINTS, Judge, Place, Uses, shared
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.values.async_value import AsyncValue

MAX_SCHEDULES = 5_000
MAX_SECONDS = 10.0
POISON, OTHER_POISON = -0x5555555555555556, 0x5454545454545454
"""The contents of unwritten memory: usually the first number, and in a comparison the second.

The numbers are even for a reason that `native.layouts.QUEUE_CHOOSE` explains.
"""
_NEVER = "never there"
_UNWRITTEN = re.compile("uninitialized|allocate_buffer|memref.alloc")
"""Matches the operations that allocate unwritten memory."""


class Explorer:
    """Explores one function of a program. Use it in a `with` block."""

    def __init__(
        self,
        program: Program,
        function: str,
        arguments: Sequence[object] = (),
        document: ProgramDocument | None = None,
        tier: Tier = Tier.AUTO,
    ) -> None:
        """Prepare the search. All runs use the tier `tier`.

        Raises:
            TfrtError: at the first run, if the program cannot be loaded or if the arguments do not
                match the function's parameters.
        """
        self._program, self._function = program._interleaved(), function
        self._tier = tier
        self._arguments = arguments
        self.document = ProgramDocument(program) if document is None else document
        names = [kernel.name for one in program.file.functions for kernel in one.kernels]
        rows = self.document.data["operations"]
        self._operations = {row["line"]: row["id"] for row in reversed(rows)}
        """The first operation of each line."""
        self._makes_unwritten = any(_UNWRITTEN.search(str(row["kernel"])) for row in rows)
        self._judge = Judge(names)
        self._host = ChosenHost(self._choose, self._touched)
        self._host.host.work_queue.native.choose = POISON | 1
        self._present: Execution | None = None
        self._is_late = False
        self._nodes: list[Node] = []
        self._forced: tuple[int, ...] | None = None
        self._races: dict[Race, None] = {}
        self._order = _Order(self.document)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._host.close()

    def explore(self, *, most: int = MAX_SCHEDULES, seconds: float = MAX_SECONDS) -> Exploration:
        """Return the outcomes of all schedules.

        The search stops after `most` schedules or after `seconds`.
        """
        self._program.compile(interpreted=self._tier is Tier.INTERPRETER)
        with self._limited(seconds):
            while True:
                try:
                    found = self._explore(most)
                except Restart:
                    self._nodes.clear()
                    self._races.clear()
                else:
                    found.races += starmap(Race, memory_races(self.document, label(self._function)))
                    if self._makes_unwritten:
                        self._find_reads(found)
                    return found

    def _find_reads(self, found: Exploration) -> None:
        """Record which outcomes change if unwritten memory has different contents."""
        queue = self._host.host.work_queue.native
        queue.choose = OTHER_POISON | 1
        try:
            for outcome, schedules in [*found.outcomes.items()][:MAX_SHOWN]:
                self._forced = schedules.choices
                try:
                    _, other = self._run()
                except TfrtError:  # the program takes another path
                    other = None
                if self._is_late:
                    return
                schedules.reads_unwritten = other != outcome
        finally:
            queue.choose, self._forced = POISON | 1, None

    def replay(self, choices: Sequence[int], *, watch: bool = True) -> tuple[Execution, Outcome]:
        """Return a finished run with these choices, and its outcome.

        With `watch`, `documents.RunDocument` can show the run.

        Raises:
            TfrtError: if a choice is not ready, or if there are too few or too many choices.
        """
        self._forced = tuple(choices)
        try:
            with self._limited(MAX_SECONDS):
                while True:
                    try:
                        return self._run(watch=watch)
                    except Restart:  # from now on, it is known which kernels print
                        continue
        finally:
            self._forced = None

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        """Cancel the run in the block after the given number of seconds.

        All runs share one timer, because setting a timer wakes its thread, which takes longer than
        a short run.
        """
        self._is_late = False
        timer = self._host.host.timers.at(time.monotonic() + seconds, self._end)
        try:
            yield
        finally:
            timer.cancel()

    def _end(self) -> None:
        self._is_late = self._host.hurries = True
        if self._present is not None:
            self._present.cancel(LATE)

    # One run

    def _run(self, *, watch: bool = False) -> tuple[Execution, Outcome]:
        self._steps: list[Done] = []
        self._chosen: list[Done] = []
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
                last.uses |= PRINTS

        run = self._program.run(
            function=self._function,
            arguments=self._arguments,
            host=self._host.host,
            output=output,
            watch=watch,
            tier=self._tier,
        )
        self._present = run
        # The timer may have fired before `_present` was set.
        if self._is_late:
            self._end()
        # Without a time limit, the steps run on this thread, because passing a run to another
        # thread may take milliseconds. If an argument is unresolved, wait as long as for values
        # that threads resolve.
        given = [value for value in self._arguments if isinstance(value, AsyncValue)]
        is_over = run.wait(None if all(value.done() for value in given) else PATIENCE_SECONDS)
        self._present = None
        outcome = comparable_outcome(run, "".join(printed))
        if not is_over:
            run.cancel("the schedule is abandoned")
            run.wait(1)
        if self._host.problem is not None:
            raise self._host.problem
        if self._restart:
            raise Restart
        # The outcome of a schedule without choices is printed with the choice 0.
        if self._depth < len(self._forced or ()) and self._forced != (0,):
            self._refusal = self._refusal or error(
                f"no schedule has these choices: it ends after {self._depth} of them;"
                " --explore prints the choices of each outcome"
            )
        if self._refusal is not None:
            raise TfrtError(self._refusal)
        return run, outcome

    def _touched(self, address: int, kind: int, line: int) -> None:
        """Record in the current step an effect of compiled code that other steps may observe."""
        if self._steps:
            last = self._steps[-1]
            if kind == QUESTION and not self._judge.questions:
                self._judge.questions = self._restart = True
            last.uses |= self._judge.effect(address, kind)
            if last.operation < 0:
                last.operation = self._operations.get(line, -1)

    def _choose(self, ready: Mapping[int, Step]) -> Step:
        latest = frozenset({len(self._steps) - 1}) if self._steps else frozenset()
        for key in ready:
            # A step that was not ready before the latest step was made ready by it.
            self._made.setdefault(key, latest)
        enabled: dict[int, tuple[Step, Uses]] = {}
        for key, step in ready.items():
            uses = self._judge.uses(step)
            if uses is None:  # the order of this step makes no difference, so run it now
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
            # The steps of one task, which share a frame, run in order.
            before |= self._handles.get(step.handle, frozenset())
            self._handles[step.handle] = frozenset({number})
        else:
            kernel = step.program.kernel_name(step.kernel)
            operation = self.document.operation_of(step.kernel)
        self._steps.append(Done(step.key, operation, kernel, uses, before, node))
        if node >= 0:
            self._chosen.append(self._steps[-1])

    def _pick(self, enabled: set[int]) -> int:
        """Return the recorded choice or, after the last one, a choice that no other run covers."""
        depth, self._depth = self._depth, self._depth + 1
        if self._is_late:  # the cancellation has changed the ready steps
            return min(enabled)
        if self._forced is not None:
            wanted = self._forced[depth] if depth < len(self._forced) else -1
            if wanted in enabled:
                return wanted
            # Raise the error after the run: the numbers of choices may still change, because it is
            # not yet known which kernels print.
            ready = ", ".join(map(str, sorted(enabled)))
            self._refusal = self._refusal or error(
                f"no schedule has these choices: number {depth + 1} is"
                f" {'missing' if wanted < 0 else wanted}, but {ready} can be chosen there;"
                " --explore prints the choices of each outcome"
            )
            return min(enabled)
        if depth == len(self._nodes):
            asleep: dict[int, Uses] = {}
            if depth:
                parent, last = self._nodes[depth - 1], self._chosen[depth - 1].uses
                # A step stays asleep until another step that shares a place with it runs.
                slept = parent.asleep | parent.done
                asleep = {k: u for k, u in slept.items() if k in enabled and not shared(u, last)}
            free = sorted(enabled - set(asleep))
            # If all steps are asleep, other runs cover all that follows.
            self._is_blocked |= not free
            self._nodes.append(Node(enabled, asleep, current=(free or sorted(enabled))[0]))
        return self._nodes[depth].current

    # The search

    def _explore(self, most: int) -> Exploration:
        found = Exploration()
        while True:
            _, outcome = self._run()
            if self._is_late:
                found.steps = len(self._steps)
            elif not self._is_blocked:
                found.schedules += 1
                schedules = found.outcomes.get(outcome)
                operations = tuple(step.operation for step in self._chosen)
                if schedules is None:
                    choices = tuple(step.key for step in self._chosen)
                    found.outcomes[outcome] = Schedules(1, choices, operations)
                else:
                    schedules.count += 1
                    schedules.other = schedules.other or operations
            self._find_races()
            found.is_complete = not self._is_late and not self._advance()
            if self._is_late or found.is_complete or found.schedules >= most:
                found.races = list(self._races)
                self._nodes.clear()
                return found

    def _find_races(self) -> None:
        """Plan runs that reverse the order of two steps that touch the same place."""
        # The sets of steps are integers with one bit per step. For each step, `clocks` contains the
        # step itself and the steps that must precede it, and `needed` contains the step itself and
        # the steps that made it ready.
        clocks: list[int] = []
        needed: list[int] = []
        touched: dict[Place, list[int]] = {}
        for j, step in enumerate(self._steps):
            if self._is_late:
                return
            before = causes = 0
            for i in step.before:
                before |= clocks[i]
                causes |= needed[i]
            places_of = step.uses.reads | step.uses.writes
            earlier = {i for place in places_of for i in touched.get(place, ())}
            for i in sorted(earlier, reverse=True):
                other = self._steps[i]
                places = shared(other.uses, step.uses)
                # Two steps do not race if the earlier one made the later one ready.
                if places and not causes >> i & 1:
                    self._note_race(other, step, places)
                if places and not before >> i & 1:
                    if other.node >= 0:
                        self._reverse(i, j, clocks, before)
                    before |= clocks[i]
            for place in places_of:
                # Every step that precedes a write also precedes all later steps, so the list can
                # start again here. For kernels, the list stays complete, because their races are
                # reported pair by pair.
                if place in step.uses.writes and not step.kernel:
                    touched[place] = []
                touched.setdefault(place, []).append(j)
            clocks.append(before | 1 << j)
            needed.append(causes | 1 << j)

    def _note_race(self, one: Done, other: Done, places: frozenset[Place]) -> None:
        # `memory_races` finds the races of compiled functions, because it knows what these
        # functions await.
        if not (one.kernel and other.kernel and any(isinstance(place, int) for place in places)):
            return
        first, second = sorted((one.operation, other.operation))
        race = Race(first, second)
        if race not in self._races and not self._order.is_given(first, second):
            self._races[race] = None

    def _reverse(self, i: int, j: int, clocks: Sequence[int], before: int) -> None:
        """Plan to try another step instead of step i.

        The other step is step j, or leads to it. If no such step is known, plan to try all enabled
        steps.
        """
        node = self._nodes[self._steps[i].node]
        for k in range(i + 1, j + 1):
            leads = k == j or (before >> k & 1 and not clocks[k] >> i & 1)
            if leads and self._steps[k].key in node.enabled:
                node.todo.add(self._steps[k].key)
                return
        node.todo |= node.enabled

    def _advance(self) -> bool:
        """Advance to the next choice to try, and return whether one exists."""
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
    """Knows which operations must run before others.

    An operation runs after the operations whose values it uses in the source.
    """

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
        """Return whether one of two operations waits for the other, or their order is unknown."""
        second = self._beside(second, first)
        first = self._beside(first, second)
        if first == second or body_of(self._rows[first]) != body_of(self._rows[second]):
            return True
        users = self._users.__getitem__
        return second in reachable([first], users) or first in reachable([second], users)

    def _beside(self, number: int, other: int) -> int:
        """Return `number`, or the operation around it that is in the same body as `other`.

        If no such operation exists, return `number`.
        """
        outer: int | None = number
        while outer is not None:
            if body_of(self._rows[outer]) == body_of(self._rows[other]):
                return outer
            outer = self._rows[outer]["parent"]
        return number


def comparable_outcome(run: Execution, printed: str) -> Outcome:
    """Return the outcome of a run with the given output, in a form that can be compared."""
    values = tuple(_text(value) for value in run.results)
    errors = tuple(sorted(_comparable(clean(one.message)) for one in run.diagnostics))
    return Outcome(values, _comparable(printed), errors)


def _comparable(text: str) -> str:
    """Return the text without addresses and times, which differ from run to run."""
    return OF_ONE_RUN.sub(r"\1...", text)


def _text(value: AsyncValue) -> str:
    if not value.done():
        return _NEVER
    problem = value.exception(0)
    if problem is not None:
        return _comparable(f"error: {preview_of(value)}")
    payload = value.payload()
    has_text = (
        type(payload).__str__ is not object.__str__ or type(payload).__repr__ is not object.__repr__
    )
    return _comparable(preview_of(value)) if has_text else f"<{type(payload).__name__}>"
