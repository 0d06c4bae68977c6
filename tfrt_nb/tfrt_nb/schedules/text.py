"""What an exploration found, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tfrt_nb.documents.previews import preview_of, visible
from tfrt_nb.programs import Program
from tfrt_nb.schedules.explore import Exploration, Outcome
from tfrt_nb.schedules.step import Stepper
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.values.async_value import AsyncValue

MAX_SHOWN = 20
_MAX_LINES = 12


def stepped_through(
    program: Program,
    function: str,
    arguments: Sequence[object] = (),
    timeout: float | None = None,
) -> tuple[str, tuple[AsyncValue, ...]]:
    """What a function comes to when its operations run in program order, as text, and its results.

    Raises:
        TfrtError: if the program cannot be loaded, the function takes other arguments, a kernel fails, or the
            run takes more than `timeout` seconds.
    """
    printed: list[str] = []
    with Stepper(program, function, arguments, output=printed.append) as stepper:
        if not stepper.run_to_end(timeout):
            text = f"@{function} timed out after {timeout:g} s"
            raise TfrtError(error(text, notes=stepper.execution.waiting_for()))
        problems = stepper.execution.diagnostics
        outcome, results = outcome_of(stepper.execution), tuple(stepper.execution.results)
    if problems:
        raise TfrtError(*problems)
    said = f"@{function}: the operations ran in program order; to choose them takes the board\n"
    return said + outcome_text(replace(outcome, printed="".join(printed))), results


def outcome_of(run: Execution) -> Outcome:
    """What a run came to that is over, without what it has printed and its errors."""
    return Outcome(tuple(preview_of(value) for value in run.results if value.done()), "", ())


def exploration_text(
    found: Exploration, document: Mapping[str, Sequence[Mapping[str, Any]]], replay: str = ""
) -> str:
    """How many outcomes and schedules there are, the races, then each outcome.

    With `replay`, a command that takes the choices of a schedule, each outcome has a schedule.
    """
    return "\n".join(_lines(found, document, replay)) + "\n"


def _lines(
    found: Exploration, document: Mapping[str, Sequence[Mapping[str, Any]]], replay: str
) -> Iterator[str]:
    outcomes = _counted(len(found.outcomes), "outcome")
    schedules = _counted(found.schedules, "schedule")
    yield (
        f"{outcomes} in {schedules}"
        if found.is_complete
        else (f"{outcomes} in {schedules}, which are not all: the limit was reached")
    )
    operations = document["operations"]
    for race in found.races:
        yield "race: nothing orders these two, and both touch one buffer"
        for number in (race.first, race.second):
            row = operations[number]
            yield f"  line {row['line']}: {row['text']}"
    for number, (outcome, schedule) in enumerate(found.outcomes.items(), 1):
        if number > MAX_SHOWN:
            yield f"and {_counted(len(found.outcomes) - MAX_SHOWN, 'outcome')} more"
            return
        yield f"outcome {number}, {_counted(schedule.count, 'schedule')}"
        yield from _outcome(outcome)
        if replay:
            order = (
                f"line {operations[o]['line']}" if o >= 0 else "task" for o in schedule.operations
            )
            yield f"  schedule: {', '.join(order) or 'no operation waits for a choice'}"
            yield f"  replay: {replay} {','.join(map(str, schedule.choices)) or '0'}"


def outcome_text(outcome: Outcome) -> str:
    """The results of a run, what it has printed, its errors; a line each."""
    return "".join(f"{line}\n" for line in _outcome(outcome))


def _outcome(outcome: Outcome) -> Iterator[str]:
    is_one = len(outcome.values) == 1
    for index, value in enumerate(outcome.values):
        yield f"  result{'' if is_one else f' {index}'} = {value}"
    lines = visible(outcome.printed).splitlines()
    for line in lines[:_MAX_LINES]:
        yield f"  {line}"
    if len(lines) > _MAX_LINES:
        yield f"  and {_counted(len(lines) - _MAX_LINES, 'line')} more"
    for message in outcome.errors:
        yield f"  error: {visible(message)}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
