"""Values as lines: pure functions from an AsyncValue, or a container of AsyncValues, to text.

A line is drawn as a chip, `● answer = 42 : i32`. Readers need no color: each state has its own
shape and, unless the value is available, a word.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Any

from tfrt_magics.bridge.cell_run import CellRun
from tfrt_magics.bridge.record import Json
from tfrt_magics.bridge.snapshot import State, result_names
from tfrt_magics.views.text import STATES, Mark
from tfrt_nb.documents.escapes import clean, label
from tfrt_nb.documents.heat_map import heat_map
from tfrt_nb.documents.previews import preview_of, text_of
from tfrt_runtime.diagnostics import Ending, counted
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.values.async_value import AsyncValue

BROKEN = "broken"
MARKS = {
    **{str(state): STATES[state] for state in State},
    BROKEN: Mark("✕", STATES[State.ERROR].color, STATES[State.ERROR].ansi),
}
"""The shape and the colors of each state."""
MAX_PARTS = 10_000
"""The maximum number of a container's parts that have lines."""
MAX_BEFORE = 1_000
"""A container is live only if one of its first parts, up to this many, is an AsyncValue."""
MAX_DEPTH = 4
MAX_LINES = 200
"""The maximum number of lines in HTML and in text. Further lines are only counted."""


@dataclass(frozen=True, slots=True)
class Line:
    """A value at one moment.

    `state` is unavailable, available, error, cancelled, or broken (nothing can resolve the value).
    `text` is the value's preview, `error` is its error message, and `place` is the location of the
    error. These fields and `type` are "" if unknown. `elapsed` is how many seconds the reader
    waited for the value, if known. `picture` is a heat map of the value, as a `data:` URL, if the
    value is a tensor that can be drawn as one. Otherwise, it is "".
    """

    name: str
    state: str
    text: str = ""
    type: str = ""
    error: str = ""
    place: str = ""
    elapsed: float | None = None
    picture: str = ""


def line_of(name: str, value: object, elapsed: float | None = None) -> Line:
    """Return the line that describes `value` as it is now.

    `value` is an element of a container: an AsyncValue or any other object.
    """
    if not isinstance(value, AsyncValue):
        return Line(name, str(State.AVAILABLE), text_of(value, repr))
    kind = label(value.type)
    if not value.done():  # check only once, because the value may be resolved at any time
        return Line(name, str(State.UNAVAILABLE), type=kind)
    problem = value.exception(0)
    if problem is None:
        picture = heat_map(value.payload())
        return Line(
            name,
            str(State.AVAILABLE),
            preview_of(value),
            kind,
            elapsed=elapsed,
            picture=picture.address if picture else "",
        )
    found = problem.diagnostics[0]
    endings = {Ending.CANCELLED: str(State.CANCELLED), Ending.BROKEN: BROKEN}
    # For an exception in Python code, the first note says where it was raised.
    notes = [one.message for one in found.notes[:1] if found.cause is not None]
    place = str(found.location or "") or "".join(notes)
    state = endings.get(found.ending, str(State.ERROR))
    return Line(name, state, "", kind, clean(found.message), clean(place), elapsed)


def parts_of(thing: object, name: str = "value") -> list[tuple[str, object]]:
    """Return the parts of a displayed object, with their names.

    A value is a single part with the name `name`. The parts of a run are its results. The parts of
    a container are its items, with names such as `[3]`, `['north']`, or `.field`; an item may be a
    container, too. The list is empty if no part is an AsyncValue.
    """
    if isinstance(thing, AsyncValue):
        return [(name, thing)]
    parts = _parts("", thing, 0)
    found = [*islice(parts, MAX_BEFORE)]
    if not any(isinstance(part, AsyncValue) for _, part in found):
        return []  # a long container without values is not ours, so do not walk the rest
    return found + [*islice(parts, MAX_PARTS - MAX_BEFORE)]


def named_values(thing: object, name: str = "value") -> list[tuple[str, AsyncValue]]:
    """Return those parts of `thing` that are AsyncValues, with their names."""
    return [(n, part) for n, part in parts_of(thing, name) if isinstance(part, AsyncValue)]


def _parts(name: str, thing: object, depth: int) -> Iterator[tuple[str, object]]:
    inner = _items(thing) if depth < MAX_DEPTH else None
    if inner is None:
        yield name, thing
        return
    for step, part in inner:
        is_result = name and not step.startswith(("[", "."))
        yield from _parts(f"{name} {step}" if is_result else f"{name}{step}", part, depth + 1)


def _items(thing: Any) -> Iterator[tuple[str, object]] | None:
    """Return a container's items, each with its index, key, or field; None for other objects."""
    match thing:
        case Batch():
            return ((f"[{place}]", value) for place, value in enumerate(thing.results))
        case Execution() | CellRun():
            return zip(result_names(len(thing.results)), thing.results, strict=True)
    if type(thing) in (list, tuple):
        return ((f"[{place}]", part) for place, part in enumerate(thing))
    if type(thing) is dict:
        # A copy, because a thread may change the container.
        items = [*islice(thing.items(), MAX_PARTS)]
        return ((f"[{text_of(key, repr)}]", part) for key, part in items)
    fields = getattr(thing, "_fields", ()) if isinstance(thing, tuple) else ()
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = [one.name for one in dataclasses.fields(thing)]
    return ((f".{name}", _attribute(thing, name)) for name in fields) if fields else None


def _attribute(thing: object, name: str) -> object:
    try:
        return getattr(thing, name)
    except Exception as problem:  # noqa: BLE001 - a user's property may raise anything
        return problem


def as_json(line: Line) -> dict[str, Json]:
    """Return the line in the format of run documents, without empty fields."""
    return {
        name: part for name in Line.__slots__ if (part := getattr(line, name)) not in ("", None)
    }


def summary(lines: Sequence[Line]) -> str:
    """Return how many lines are in each state: `3 values: 1 unavailable, 2 available`."""
    states = [line.state for line in lines]
    each = [f"{states.count(state):,} {state}" for state in MARKS if state in states]
    return f"{counted(len(lines), 'value')}: {', '.join(each)}"


def words(line: Line) -> str:
    """Return the part of a line after its name.

    For example, `= 42 : i32`, `unavailable : i32`, or `error: nobody came, at <program>:2:3 : i32`.
    """
    said = f"= {line.text}" if line.state == State.AVAILABLE else line.state
    if line.error:
        said += f": {line.error}" + (f", at {line.place}" if line.place else "")
    return said + (f" : {line.type}" if line.type else "")


def lines_text(lines: Sequence[Line]) -> str:
    """Return the lines as text."""
    shown = [f"{MARKS[one.state].shape} {one.name} {words(one)}" for one in lines[:MAX_LINES]]
    more = [f"… and {len(lines) - MAX_LINES:,} more; {summary(lines)}"] * (len(lines) > MAX_LINES)
    return "\n".join([*shown, *more])


def lines_html(lines: Sequence[Line]) -> str:
    """Return HTML with a chip for each line. The HTML needs no script and no style sheet."""
    chips = "".join(map(_chip, lines[:MAX_LINES]))
    if len(lines) > MAX_LINES:
        chips += f"<div>… and {len(lines) - MAX_LINES:,} more; {summary(lines)}</div>"
    return f'<div style="max-height: 420px; overflow: auto; font-family: monospace">{chips}</div>'


def _chip(line: Line) -> str:
    mark = MARKS[line.state]
    shape = f'<span style="color:{mark.color}">{mark.shape}</span>'
    picture = f'<br><img alt="heat map" width="160" src="{line.picture}">' if line.picture else ""
    return f"<div>{shape} <b>{escape(line.name)}</b> {escape(words(line))}{picture}</div>"
