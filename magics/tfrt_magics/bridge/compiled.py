"""What the operations of compiled functions have made, for the notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tfrt_magics.bridge.snapshot import State
from tfrt_magics.bridge.value_view import ValueView, text_of
from tfrt_nb.compiled.host import HostCode
from tfrt_nb.programs import Program
from tfrt_runtime.async_runtime import LiveObject, Made
from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, Location, Severity
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext

MAX_WARNINGS = 5
"""So many objects that a run left over are shown under its cell."""
# `%t, %v:2 = async.execute ...`, and `async.func @f(...)`.
NAMES = re.compile(r"^\s*((?:%[\w$.-]+(?::\d+)?\s*,?\s*)+)=")
SYMBOL = re.compile(r"@[\w$.-]+")
OPERATION = re.compile(r'"?([A-Za-z_][\w.$]*)')


class CompiledObjects:
    """The tokens, values and groups that the compiled functions of one cell make on a host."""

    def __init__(self, host: HostContext, program: Program, *, checked: bool) -> None:
        """
        Args:
            checked: register every object, to show what exists and what is left over.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        assert program.compiled is not None
        self._program = program
        self._shared = host.shared_context(HostCode)
        self._shared.check(program.compiled)
        self._checked = checked
        program.compile()

    def begin(self) -> None:
        """A run begins."""
        self._shared.runtime.checked = self._checked

    def made(self, execution: Execution) -> list[ValueView]:
        """The return of a function, then its objects by the operation that made them."""
        is_cancelled = execution.request.is_cancelled
        own = [one for one in self._shared.runtime.made() if self._is_own(one.location)]
        views = [self._view(one, is_cancelled) for one in sorted(own, key=_place_in_text)]
        return [_returned(execution), *views]

    def _is_own(self, place: AnyLocation | None) -> bool:
        return isinstance(place, Location) and place.source == self._program.name

    def _view(self, made: Made, is_cancelled: bool) -> ValueView:
        count = made.unavailable + made.available + made.failed
        state = State.ERROR if made.failed else State.AVAILABLE
        if made.unavailable:
            state = State.CANCELLED if is_cancelled else State.UNAVAILABLE
        name = name_at(self._program.text, made.location)
        operation = operation_at(self._program.text, made.location)
        return ValueView(
            name or operation,
            made.kind,
            made.location,
            state,
            (operation if name else "") + _counts(made),
            count=count,
        )

    def left_over(self) -> tuple[Diagnostic, ...]:
        """Warnings of the objects that the run has left behind."""
        found = [one for one in self._shared.runtime.live_objects() if self._is_own(one.location)]
        shown = [
            Diagnostic(Severity.WARNING, left_over_text(one, self._program.text), one.location)
            for one in found[:MAX_WARNINGS]
        ]
        if len(found) > MAX_WARNINGS:
            more = f"{len(found) - MAX_WARNINGS} more objects are left over; see %tfrt_leaks"
            shown.append(Diagnostic(Severity.WARNING, more))
        return tuple(shown)


def _returned(execution: Execution) -> ValueView:
    """Whether a function has returned; its failure, if it has none to return."""
    failed = [value for value in execution.results if value.done() and value.exception(0)]
    text = ""
    if execution.request.is_cancelled:
        state = State.CANCELLED
    elif not execution.done():
        state = State.UNAVAILABLE
    elif failed or (execution.diagnostics and not execution.results):
        state = State.ERROR
        text = text_of(failed[0], state) if failed else execution.diagnostics[0].message
    else:
        state = State.AVAILABLE
    place = execution.program.file.location(execution.function.location)
    return ValueView("return", "", place, state, text)


def _place_in_text(made: Made) -> tuple[int, int, str]:
    place = made.location
    return (0, 0, made.kind) if place is None else (place.line, place.column, made.kind)


def _counts(made: Made) -> str:
    """How many of several objects are in which state, where they differ."""
    parts = [
        f"{number} {word}"
        for number, word in (
            (made.available, "available"),
            (made.failed, "failed"),
            (made.unavailable, "open"),
        )
        if number
    ]
    return f" {', '.join(parts)}" if len(parts) > 1 else ""


def left_over_text(one: LiveObject, text: str) -> str:
    """What is left over, and its holders."""
    operation = one.maker or operation_at(text, one.location)
    maker = f" of '{operation}'" if operation else ""
    return f"a {one.kind}{maker} is left over: {holders(one)}"


def holders(one: LiveObject) -> str:
    """The holders of an object: its producer until it is resolved, then only users."""
    count = f"{one.references} reference{'s' * (one.references != 1)}"
    if one.state != "unavailable":
        return f"{one.state}; {count} {'was' if one.references == 1 else 'were'} never dropped"
    users = one.references - 1
    rest = f", and by {users} more" if users > 0 else ""
    return f"{count}: held by its producer, which must resolve it{rest}"


def _line_at(text: str, place: AnyLocation | None) -> Iterator[tuple[str, int]]:
    lines = text.split("\n")
    if isinstance(place, Location) and 1 <= place.line <= len(lines):
        yield lines[place.line - 1], place.column - 1


def operation_at(text: str, place: AnyLocation | None) -> str:
    """The name of the operation at a place of a source, or ""."""
    for line, column in _line_at(text, place):
        found = OPERATION.match(line, column)
        return found[1] if found else ""
    return ""


def name_at(text: str, place: AnyLocation | None) -> str:
    """What the text calls the results, or the function, of the operation at a place; or ""."""
    for line, column in _line_at(text, place):
        if names := NAMES.match(line[:column]):
            return names[1].strip()
        if operation_at(text, place).endswith("func") and (symbol := SYMBOL.search(line, column)):
            return symbol[0]
    return ""


def live_objects(host: HostContext, texts: Mapping[str, str]) -> list[LiveObject]:
    """The async objects of a host that have references; `texts` are the programs by their names."""
    found = host.shared_context(HostCode).runtime.live_objects()
    return [replace(one, maker=one.maker or _maker_of(one, texts)) for one in found]


def _maker_of(one: LiveObject, texts: Mapping[str, str]) -> str | None:
    place = one.location
    return None if place is None else operation_at(texts.get(place.source, ""), place) or None
