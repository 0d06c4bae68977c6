"""Programs of the compiler on hosts of the runtime, as the notebook sees them.

Importing this module loads the compiler; the session does so for the first cell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

from tfrt_magics.bridge import run
from tfrt_magics.bridge.compiled import CompiledObjects, live_objects
from tfrt_magics.bridge.page_program import PageProgram
from tfrt_magics.bridge.snapshot import State, result_names
from tfrt_magics.bridge.value_view import ValueView, text_of
from tfrt_nb.documents.previews import label
from tfrt_nb.documents.reached import MORE
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.programs import FunctionSignature, Program
from tfrt_runtime.async_runtime import LiveObject
from tfrt_runtime.callers import OWN_PACKAGES
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import load_core
from tfrt_runtime.host.tracing.events import Watch
from tfrt_runtime.host.values.async_value import AsyncValue

if TYPE_CHECKING:
    from tfrt_nb.convert.names import NamedValue

# A register of a program: the number of its function, and its own.
Register = tuple[int, int]

CHAIN, TOKEN = "!tfrt.chain", "!async.token"
SHOWN = (State.AVAILABLE, State.ERROR)

# A job's thread has no caller whose line would be to blame.
OWN_PACKAGES.update(("tfrt_magics", "threading"))


def announce(step: str) -> None:
    """Say once why the first cell takes so long; on standard output, as nothing is wrong."""
    if step.startswith("1/"):
        print("Compiling the native core for this machine: once, about a minute.", flush=True)


def notebook_loop() -> asyncio.AbstractEventLoop:
    """The loop of the notebook, on whose thread cells run.

    Raises:
        TfrtError: if there is none, as in a terminal.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        text = "%config TFRT.loop is 'notebook', but no event loop runs here: %config TFRT.loop = \"own\""
        raise TfrtError(error(text)) from None


class NotebookHost:
    """A HostContext, as the notebook uses it."""

    def __init__(
        self,
        work_queue: str,
        check_references: Callable[[], bool] = lambda: True,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """
        Args:
            check_references: whether compiled programs that start now are checked.
            loop: where `async def` kernels run; None is a loop of the host's own.
        """
        load_core(announce)
        self._host = HostContext(work_queue, loop=loop)
        self._check_references = check_references
        self._runs: list[TracedRun] = []
        """Runs of compiled functions that may still be going on."""
        self._texts: dict[str, str] = {}

    @property
    def is_spent(self) -> bool:
        """Whether a run that was stopped computes on, and so would never let another one end."""
        return any(run.runs_on for run in self._runs)

    def set_memory(self, memory: str | None) -> None:
        """What programs of the host may take from now on; None is the default."""
        self._host.set_memory(memory)

    def live_objects(self) -> Sequence[LiveObject]:
        """The tokens, values and groups of compiled programs that are left over."""
        return live_objects(self._host, self._texts) if self._texts else ()

    def load(self, program: run.Program, slow: float = 1.0) -> LoadedProgram:
        """The program with the kernels that there are now, the notebook's own among them.

        Its operations last `slow` times as long.

        Raises:
            TfrtError: when it uses others.
        """
        assert isinstance(program, Program)
        objects = None
        if program.compiled is not None:
            self._texts[program.name] = program.text
            objects = CompiledObjects(self._host, program, checked=self._check_references())
        return LoadedProgram(self._host, program, objects, self._note, slow)

    def _note(self, run: TracedRun) -> None:
        self._runs = [other for other in self._runs if not other.wait(0)][-64:] + [run]

    def close(self) -> None:
        self._host.close()


class LoadedProgram:
    """A program on a host, whose runs are watched."""

    def __init__(
        self,
        host: HostContext,
        program: Program,
        objects: CompiledObjects | None,
        note: Callable[[TracedRun], None],
        slow: float = 1.0,
    ) -> None:
        """`objects` are those of compiled functions; `note` hears of their runs.

        Operations of host functions last `slow` times as long.
        """
        self._slow = slow
        self._host, self._program, self._objects, self._note = host, program, objects, note
        # Loaded at once, so that an unknown kernel is an error of the program and not of its run.
        self._executable = program.load(watched=True)
        self._names = NamesOfValues(program)
        self._signatures = {one.name: one for one in program.functions}

    @cached_property
    def document(self) -> PageProgram:
        """The program as pages have it."""
        return PageProgram(self._program)

    def run(
        self, function: str, output: Callable[[str], None], arguments: Sequence[object] = ()
    ) -> TracedRun:
        signature = self._signatures[function]
        objects = self._objects if signature.is_compiled else None
        if objects is not None:
            objects.begin()
            executable, watch = self._program.load_compiled(function, watched=True), Watch()
        else:
            executable, watch = self._executable, Watch(slow=self._slow)
        execution = Execution(
            self._host, executable, function, arguments, output=output, watch=watch
        )
        log = RunDocument(self._program, execution, self.document.document, arguments)
        run = TracedRun(execution, self._names, signature, log, objects)
        if objects is not None:
            self._note(run)
        return run


class NamesOfValues:
    """Where the values of a program are in its text, and in which order a reader meets them."""

    def __init__(self, program: Program) -> None:
        self._program = program

    @cached_property
    def in_reading_order(self) -> list[tuple[Register, NamedValue]]:
        """The named registers, without the values that a region captures."""
        named = self._program.named_values()
        outermost: dict[tuple[str, str], int] = {}
        for one in named.values():
            if one.depth <= outermost.get((one.function, one.name), one.depth):
                outermost[one.function, one.name] = one.depth
        functions = self._program.file.functions
        found = [
            (place, one)
            for place, one in named.items()
            # In BEF a region takes what it uses as arguments; in the text those are outer values.
            if one.depth <= outermost[one.function, one.name]
            or place[1] >= len(functions[place[0]].argument_types)
        ]
        return sorted(found, key=lambda pair: _place_in_text(pair[1]))


def _place_in_text(value: NamedValue) -> tuple[int, int]:
    place = value.location
    return (0, 0) if place is None else (place.line, place.column)


class TracedRun:
    """An Execution with the names that the program's text gives its values (`run.Run`)."""

    def __init__(
        self,
        execution: Execution,
        names: NamesOfValues,
        signature: FunctionSignature,
        events: RunDocument,
        objects: CompiledObjects | None = None,
    ) -> None:
        """`objects` are those of a compiled function that are looked after."""
        self._execution, self._names, self.events = execution, names, events
        self._signature, self._objects = signature, objects
        self._left_over: tuple[Diagnostic, ...] | None = None
        # The user may keep the results, so they stay here and outlive the run.
        self.results: Sequence[AsyncValue] = tuple(execution.results)
        self._texts: dict[int, str] = {}

    def ready(self) -> list[int] | None:
        return None  # it goes on by itself

    def step(self, operation: int | None, *, until: bool) -> None:
        """Nothing: it goes on by itself."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        reported = self._execution.diagnostics
        # Of a run that fails, each place that failed, also where no operation awaits it.
        failures = self._execution.request.failures if reported else ()
        others = [one for one in failures if one not in reported]
        return [*reported, *others, *(self._left_over or ())]

    @property
    def is_stuck(self) -> bool:
        return self._execution.is_stuck

    def waiting_for(self) -> Sequence[Diagnostic]:
        return self._execution.waiting_for()

    def wait(self, timeout: float) -> bool:
        is_over = self._execution.wait(timeout)
        if is_over and self._objects is not None and self._left_over is None:
            is_cancelled = self._execution.request.is_cancelled
            self._left_over = (
                () if is_cancelled else self._objects.left_over(self._execution.diagnostics)
            )
        return is_over

    @property
    def runs_on(self) -> bool:
        """Whether something of it still runs although it was stopped."""
        return self._execution.request.is_cancelled and not self.wait(0)

    def cancel(self) -> None:
        self._execution.cancel()

    def result_values(self) -> list[ValueView]:
        names, types = result_names(self._signature), self._signature.result_types
        return [
            ValueView(name, type_, state, text)
            for place, (name, type_, value) in enumerate(
                zip(names, types, self.results, strict=True)
            )
            for state in [self._state(value)]
            # That a token is available says its state.
            for is_token in [state is State.AVAILABLE and type_ == TOKEN]
            for text in ["" if is_token else self._text(place, value, state)]
        ]

    def named_values(self) -> list[ValueView]:
        """The function's own values, then those of the functions that it has called."""
        self.events.update()
        self.events.preview()
        if self._signature.is_compiled:
            return self._of_compiled()
        own = self._execution.function.name
        pairs = self._names.in_reading_order
        reached = {name.function for place, name in pairs if self._is_made(place)} - {own}
        called = [pair for pair in pairs if pair[1].function in reached]
        return [
            *(self._view(place, name, name.name) for place, name in pairs if name.function == own),
            *(self._view(place, name, f"@{name.function} {name.name}") for place, name in called),
        ]

    def _of_compiled(self) -> list[ValueView]:
        """What the dialect makes, and what else is recorded; of a function without results, whether it returned."""
        rows = self.events.program.data
        names = [row["name"] for row in rows["functions"]]
        own = label(self._execution.function.name)
        states, found = self.events.states(), []
        for row in rows["values"]:
            number, function = row["id"], names[row["function"]]
            is_known = number in states or number in self.events.previews
            is_async = function == own and row["type"].startswith("!async.")
            if row["name"] and (is_known or is_async):
                name = row["name"] if function == own else f"@{function} {row['name']}"
                found.append((function != own, self._shown(number, name, row["type"])))
        views = [view for _, view in sorted(found, key=itemgetter(0))]
        return views if self._signature.result_types else [self._returned(), *views]

    def _returned(self) -> ValueView:
        run = self._execution
        state, text = State.AVAILABLE, ""
        if run.request.is_cancelled:
            state = State.CANCELLED
        elif not run.done():
            state = State.UNAVAILABLE
        elif run.diagnostics:
            state, text = State.ERROR, run.diagnostics[0].message
        return ValueView("return", "", state, text)

    def _is_made(self, place: Register) -> bool:
        """Whether a register was set by a worker; a constant is available without a call."""
        function, register = place
        constants = self._execution.program.constants
        return register not in constants[function] and self._number(place) in self.events.seen

    def _number(self, place: Register) -> int:
        function, register = place
        return self.events.program.registers[function][register]

    def _view(self, place: Register, name: NamedValue, shown_name: str) -> ValueView:
        return self._shown(self._number(place), shown_name, name.type, self._is_made(place))

    def _shown(self, number: int, name: str, type_: str, is_timed: bool = True) -> ValueView:
        """A value of the program's document."""
        seen = self.events.seen.get(number)
        state = self._unseen(number) if seen is None else State(seen.state)
        if state is State.UNAVAILABLE and self._signature.is_compiled:
            maker = self.events.program.data["values"][number]["op"]
            known = self.events.unlogged().get(maker, state)
            state = State.AVAILABLE if known == MORE else State(known)
        shown = self.events.previews.get(number, "chain" if type_ == CHAIN else "")
        is_error = state in (State.ERROR, State.SKIPPED)
        if is_error and shown == self._execution.request.cancel_message:
            state = State.CANCELLED  # its kernel had begun, or that of what it depends on
        text = shown if state in SHOWN and type_ != TOKEN else ""
        if seen is None or not is_timed:
            return ValueView(name, type_, state, text, number=number)
        is_known = seen.worker is not None and seen.worker >= 0
        worker = self.events.workers[seen.worker or 0] if is_known else None
        return ValueView(
            *(name, type_, state, text, worker, seen.started, seen.resolved, seen.count, number)
        )

    def _unseen(self, number: int) -> State:
        """The state of a value that no event is about: an argument of a compiled function may have come."""
        box = self.events.boxes.get(number)
        return State.UNAVAILABLE if box is None else self._state(box)

    def _state(self, value: AsyncValue) -> State:
        if not value.done():
            return State.UNAVAILABLE
        problem = value.exception(0)
        if problem is None:
            return State.AVAILABLE
        if problem.diagnostics[0].location is None and self._execution.request.is_cancelled:
            return State.CANCELLED
        return State.ERROR

    def _text(self, place: int, value: AsyncValue, state: State) -> str:
        """The text of a result, made once: a tensor's takes a while."""
        if state is not State.UNAVAILABLE and place not in self._texts:
            self._texts[place] = text_of(value, state)
        return self._texts.get(place, "")
