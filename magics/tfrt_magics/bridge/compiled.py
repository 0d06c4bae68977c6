"""Compiled functions, as the notebook looks at them: results, and what their operations have made."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tfrt_magics.bridge.run import Ran
from tfrt_magics.bridge.snapshot import State, result_names
from tfrt_magics.bridge.value_view import ValueView, text_of
from tfrt_nb.compiled.execution import CompiledExecution
from tfrt_nb.compiled.half import CompiledFunction
from tfrt_nb.compiled.host import CompiledHome, LoadedHalf
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.programs import Program
from tfrt_runtime.async_runtime import LiveObject, Made
from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, Location, Severity
from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.events import Watch

MOST_WARNINGS = 5
"""So many objects that a run left over are shown under its cell."""
# `%t, %v:2 = async.execute ...`, and `async.func @f(...)`.
NAMES = re.compile(r"^\s*((?:%[\w$.-]+(?::\d+)?\s*,?\s*)+)=")
SYMBOL = re.compile(r"@[\w$.-]+")
OPERATION = re.compile(r'"?([A-Za-z_][\w.$]*)')


class LoadedCode:
    """The compiled functions of one cell on a host."""

    def __init__(self, host: HostContext, program: Program, *, checked: bool) -> None:
        """
        Args:
            checked: keep an eye on every object, to show what is there and what is left over.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        assert program.compiled is not None
        self._program = program
        self._functions = program.compiled.functions
        self._home = host.shared_context(CompiledHome)
        self._checked = checked
        self._code: LoadedHalf = self._home.load(program.compiled)

    def has(self, function: str) -> bool:
        return function in self._functions

    def run(
        self,
        function: str,
        output: Callable[[str], None],
        arguments: Sequence[object],
        document: ProgramDocument,
    ) -> CompiledRun:
        """Start a function; `document` is that of the program."""
        self._home.runtime.checked = self._checked
        execution = CompiledExecution(
            self._code, self._functions[function], arguments, output=output, watch=Watch()
        )
        events = RunDocument(self._program, execution, document)
        return CompiledRun(execution, self._home, self._program, events)


class CompiledRun:
    """A run of a compiled function (`run.Run`)."""

    def __init__(
        self,
        execution: CompiledExecution,
        home: CompiledHome,
        program: Program,
        events: RunDocument,
    ) -> None:
        self._execution, self._home, self._program = execution, home, program
        self.events = events
        self.results: Sequence[AsyncValue] = tuple(execution.results)
        self.is_cancelled = False
        self._left_over: tuple[Diagnostic, ...] = ()
        self._over = threading.Event()
        # Code that computes gives nobody a chance to see that its time is over: it has a thread.
        threading.Thread(target=self._finish, name="compiled code", daemon=True).start()

    @property
    def function(self) -> CompiledFunction:
        return self._execution.function

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        return [*self._execution.diagnostics, *self._left_over]

    def ready(self) -> list[int] | None:
        return None  # it goes on by itself

    def step(self, operation: int | None, *, until: bool) -> None:
        """Nothing: it goes on by itself."""

    @property
    def is_stuck(self) -> bool:
        return self._execution.is_stuck

    @property
    def is_running(self) -> bool:
        """Whether something of it may still run."""
        return not self._over.is_set()

    def ran(self) -> Sequence[Ran]:
        """Nothing: tasks of compiled code are not recorded one by one."""
        return ()

    def waiting_for(self) -> Sequence[Diagnostic]:
        return self._execution.waiting_for()

    def wait(self, timeout: float) -> bool:
        return self._over.wait(timeout)

    def _finish(self) -> None:
        try:
            self._execution.wait()
            if not self.is_cancelled:
                self._left_over = self._warnings()
        finally:
            self._over.set()

    def cancel(self) -> None:
        self.is_cancelled = True
        self._execution.cancel()

    def result_values(self) -> list[ValueView]:
        """The results; for a function without any, whether it has returned."""
        names = result_names(self.function)
        return [
            ValueView(name, type_, None, state, _text(value, state))
            for name, type_, value in zip(
                names, self.function.result_types, self.results, strict=True
            )
            for state in [self._state(value)]
        ]

    def _state(self, value: AsyncValue) -> State:
        if not value.done():
            return State.UNAVAILABLE
        problem = value.exception(0)
        if problem is None:
            return State.AVAILABLE
        return State.CANCELLED if self.is_cancelled else State.ERROR

    def named_values(self) -> list[ValueView]:
        """The return of the function, then tokens, values and groups by the operation that made them."""
        done = self._execution.completion
        state = self._state(done)
        returned = ValueView("return", "", self.function.location, state, _text(done, state))
        own = [one for one in self._home.runtime.made() if self._is_own(one.location)]
        return [returned, *map(self._view, sorted(own, key=_place_in_text))]

    def _is_own(self, place: AnyLocation | None) -> bool:
        return isinstance(place, Location) and place.source == self._program.name

    def _view(self, made: Made) -> ValueView:
        count = made.unavailable + made.available + made.failed
        state = State.ERROR if made.failed else State.AVAILABLE
        if made.unavailable:
            state = State.CANCELLED if self.is_cancelled else State.UNAVAILABLE
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

    def _warnings(self) -> tuple[Diagnostic, ...]:
        """What the run has left behind."""
        found = [one for one in self._home.runtime.live_objects() if self._is_own(one.location)]
        shown = [
            Diagnostic(Severity.WARNING, left_over_text(one, self._program.text), one.location)
            for one in found[:MOST_WARNINGS]
        ]
        if len(found) > MOST_WARNINGS:
            more = f"{len(found) - MOST_WARNINGS} more objects are left over; see %tfrt_leaks"
            shown.append(Diagnostic(Severity.WARNING, more))
        return tuple(shown)


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


def _text(value: AsyncValue, state: State) -> str:
    """A result's text; that a token or a return is there says its state."""
    is_there = state is State.AVAILABLE
    return "" if is_there and value.result(0) is CHAIN else text_of(value, state)


def left_over_text(one: LiveObject, text: str) -> str:
    """What is left over, and who holds it."""
    operation = one.maker or operation_at(text, one.location)
    maker = f" of '{operation}'" if operation else ""
    return f"a {one.kind}{maker} is left over: {holders(one)}"


def holders(one: LiveObject, names: Sequence[str] = ()) -> str:
    """Who still refers to an object: its producer until it is resolved, then only users.

    `names` are those of the notebook that hold it.
    """
    if names:
        others = one.references - len(names)
        more = f", and by {others} more" if others > 0 else ""
        return f"{one.state}, held by {' and '.join(names)}{more}"
    count = f"{one.references} reference{'s' * (one.references != 1)}"
    if one.state != "unavailable":
        return f"{one.state}, and nobody gave up {count}"
    users = one.references - 1
    rest = f", and by {users} more" if users > 0 else ""
    return f"{count}: held by whoever must resolve it{rest}"


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
    found = host.shared_context(CompiledHome).runtime.live_objects()
    return [replace(one, maker=one.maker or _maker_of(one, texts)) for one in found]


def _maker_of(one: LiveObject, texts: Mapping[str, str]) -> str | None:
    place = one.location
    return None if place is None else operation_at(texts.get(place.source, ""), place) or None
