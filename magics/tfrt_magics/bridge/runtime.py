"""The notebook's view of the compiler's programs and the runtime's hosts.

Importing this module loads the compiler; the session imports it for the first cell.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tfrt_magics.bridge.compiled import CompiledObjects, live_objects
from tfrt_magics.bridge.snapshot import Row, State, result_names
from tfrt_nb.documents.blocks import MORE
from tfrt_nb.documents.escapes import clean, label
from tfrt_nb.documents.picture import layout
from tfrt_nb.documents.previews import preview_of
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.programs import Program
from tfrt_runtime.async_runtime import LiveObject
from tfrt_runtime.bef.records import collector_paused
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.tracing.events import Watch
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.native import library
from tfrt_runtime.native.machine import HAS_THREADS

if TYPE_CHECKING:
    from tfrt_nb.schedules.step import Stepper

CHAIN, TOKEN = "!tfrt.chain", "!async.token"
SHOWN = (State.AVAILABLE, State.ERROR)
MAX_SOURCE = 4_000_000
"""The maximum length of a source in characters. Pages get only the beginning of a longer source."""
LOOK_SECONDS = 0.01
STEP_SECONDS = 10.0


def announce(step: str) -> None:
    """Print once, on standard output, why the first cell takes a while."""
    if step.startswith("1/") or step == library.WAITING:
        print("Compiling the native core for this machine: about a minute, only once.", flush=True)


def notebook_loop() -> asyncio.AbstractEventLoop:
    """Return the notebook's event loop, on whose thread cells run.

    Raises:
        TfrtError: if no event loop runs here, as in a terminal.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        text = "%config TFRT.loop is 'notebook', but no event loop runs here: set"
        text += ' %config TFRT.loop = "own"'
        raise TfrtError(error(text)) from None


class PageProgram:
    """A program in the pages' format: the constant part of a run document."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.document = ProgramDocument(program)

    @cached_property
    def body(self) -> Mapping[str, Any]:
        """The `program`, `layout`, and `source` of a run document, computed for the first page."""
        data = self.document.data
        with collector_paused():
            placed = layout(data, grouped=True)
        program = self.program
        is_traced = program._labels is not None
        text = self.document.python_source(program.name) if is_traced else program.text
        source = text[:MAX_SOURCE].encode("utf-8", "replace").decode()
        if (more := len(text) - MAX_SOURCE) > 0:
            source += f"\n… and {more} more characters"
        return {"program": data, "layout": placed, "source": source}

    @cached_property
    def named_values(self) -> list[Mapping[str, Any]]:
        """Return the values that the source names, in order. Captured values are left out."""
        data = self.document.data
        depths: list[int] = []
        inner: dict[int, int] = {}  # how deeply the regions' arguments are nested
        for row in data["operations"]:
            depths.append(0 if row["parent"] is None else depths[row["parent"]] + 1)
            for region in row["regions"]:
                inner |= dict.fromkeys(region["arguments"], depths[-1] + 1)
        found: list[Mapping[str, Any]] = []
        outermost: dict[tuple[int, str], int] = {}
        for row in data["values"] if self.program._labels or self.program.text else ():
            depth = inner.get(row["id"], 0 if row["op"] is None else depths[row["op"]])
            known = outermost.setdefault((row["function"], row["name"]), depth)
            # In BEF, each outside value that a region uses is also an argument of the region, with
            # the same name. The source has no such argument, so skip it.
            if row["name"] and (depth <= known or row["id"] not in inner):
                found.append(row)
        return found

    def stages(self) -> dict[str, Any]:
        """Return `stages` of a run document: the program at each stage, or the `problem`.

        This takes as long as compiling the program does.
        """
        # Imported here because the stages of most programs are never requested.
        from tfrt_nb.documents.stages import stages

        try:
            return {"rows": stages(self.program, self.document), "problem": ""}
        except TfrtError as problem:
            return {"rows": [], "problem": problem.diagnostics[0].message}

    def bef(self) -> bytes:
        """Return the program as a BEF file."""
        return self.program.bef


class NotebookHost:
    """A HostContext as the notebook uses it. Tests replace this class.

    For a user's host, this object is a shared context of the host: it lives as long as the host,
    and never closes it.
    """

    def __init__(
        self,
        work_queue: str | HostContext,
        check_references: Callable[[], bool] = lambda: True,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """
        Args:
            work_queue: the work queue of a host to open, or a user's host.
            check_references: whether compiled programs that start now are checked.
            loop: the event loop of `async def` kernels; None means the host's own loop.
        """
        library.load(announce)
        if isinstance(work_queue, str):
            work_queue = HostContext(work_queue, loop=loop)
        self._host = work_queue
        self._memory: str | None = None
        self.check_references = check_references
        self._runs: list[TracedRun] = []
        """Runs of compiled functions that may still be running."""
        self._texts: dict[str, str] = {}

    @property
    def is_spent(self) -> bool:
        """Whether a stopped run is still computing, so that no later run could finish."""
        return any(run.runs_on for run in self._runs)

    def set_memory(self, memory: str | None) -> None:
        """Set the memory budget for later programs on the host. None is the default."""
        if memory != self._memory:
            self._host.set_memory(memory)
            self._memory = memory

    def live_objects(self) -> Sequence[LiveObject]:
        """Return the leftover tokens, values, and groups of compiled programs."""
        is_used = self._texts and not self._host.is_closed
        return live_objects(self._host, self._texts) if is_used else ()

    def load(self, program: Program, slow: float = 1.0) -> LoadedProgram:
        """Load a program with the current kernels, including the notebook's.

        Operations of the program's host functions take `slow` times as long.

        Raises:
            TfrtError: if the program uses unknown kernels.
        """
        objects = None
        if program._compiled is not None:
            self._texts[program.name] = program.text
            objects = CompiledObjects(self._host, program, checked=self.check_references())
        return LoadedProgram(self._host, program, objects, self._note, slow)

    def _note(self, run: TracedRun) -> None:
        self._runs = [other for other in self._runs if not other.wait(0)][-64:] + [run]

    def close(self) -> None:
        self._host.close()


class LoadedProgram:
    """A program on a host. The events of its runs are recorded."""

    def __init__(
        self,
        host: HostContext,
        program: Program,
        objects: CompiledObjects | None,
        note: Callable[[TracedRun], None],
        slow: float = 1.0,
    ) -> None:
        """Load the program on `host`.

        `objects` tracks the async objects of compiled functions, or is None if the program has no
        compiled functions. `note` is called with each run of a compiled function. Operations of
        host functions take `slow` times as long.
        """
        self._slow = slow
        self._host, self._program, self._objects, self._note = host, program, objects, note
        # Load the program now, so that an unknown kernel is an error of the program rather than of
        # its run.
        self._executable = program.load(watched=True)
        self._is_compiled = {one.name: one.is_compiled for one in program.functions}

    @cached_property
    def document(self) -> PageProgram:
        """Return the program in the pages' format."""
        return PageProgram(self._program)

    def run(
        self, function: str, output: Callable[[str], None], arguments: Sequence[object] = ()
    ) -> TracedRun:
        """Start a function.  `output` receives each piece of printed text, on any thread.

        Raises:
            TfrtError: if `arguments` do not match the function's parameters.
        """
        objects = self._objects if self._is_compiled[function] else None
        if objects is not None:
            objects.begin()
            executable, watch = self._program._load_compiled(function, watched=True), Watch()
        else:
            executable, watch = self._executable, Watch(slow=self._slow, needs_cluster=True)
        execution = Execution(
            self._host, executable, function, arguments, output=output, watch=watch
        )
        log = RunDocument(self._program, execution, self.document.document, arguments)
        run = TracedRun(execution, self.document, log, objects)
        if objects is not None:
            self._note(run)
        return run


class SteppedProgram:
    """A program that a reader steps through: each run continues only on request.

    Close it after the runs.
    """

    def __init__(self, program: Program) -> None:
        self.document = PageProgram(program)
        self._runs: list[SteppedRun] = []

    def run(
        self, function: str, output: Callable[[str], None], arguments: Sequence[object] = ()
    ) -> SteppedRun:
        """Start a function like `LoadedProgram.run`."""
        # Imported here, because few cells are stepped through.
        from tfrt_nb.schedules.step import Stepper

        page = self.document
        stepper = Stepper(page.program, function, arguments, document=page.document, output=output)
        self._runs.append(SteppedRun(page, stepper))
        return self._runs[-1]

    def close(self) -> None:
        """End the remaining runs."""
        for run in self._runs:
            run.stepper.close()


class TracedRun:
    """An Execution whose values have the names that they have in the program's source.

    One thread at a time may read the values.
    """

    def __init__(
        self,
        execution: Execution,
        page: PageProgram,
        events: RunDocument,
        objects: CompiledObjects | None = None,
    ) -> None:
        """`objects` are the tracked objects of a compiled function."""
        self._execution, self.page, self.events = execution, page, events
        name = execution.function.name
        self._signature = next(one for one in page.program.functions if one.name == name)
        self._objects = objects
        self._left_over: tuple[Diagnostic, ...] | None = None
        # The user may keep the results, so they may outlive the run.
        self.results: Sequence[AsyncValue] = tuple(execution.results)
        self._texts: dict[int, str] = {}

    def ready(self) -> list[int] | None:
        """Return the operations that the reader may run next; None unless the run is stepped."""
        return None

    def step(self, operation: int | None, *, until: bool) -> None:
        """Run `operation`, or all if it is None. `until` first runs what the operation needs."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        reported = self._execution.diagnostics
        # Report each failure of a failed run, even if no operation awaits the failed value.
        failures = self._execution.request.failures if reported else ()
        others = [one for one in failures if one not in reported]
        return [*reported, *others, *(self._left_over or ())]

    @property
    def is_stuck(self) -> bool:
        """Whether a waiting thread has found that the run cannot continue."""
        return self._execution.is_stuck

    def waiting_for(self) -> Sequence[Diagnostic]:
        """Return notes about the values that the run awaits from threads and event loops."""
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
        """Whether a part of the stopped run is still running."""
        return self._execution.request.is_cancelled and not self.wait(0)

    def cancel(self) -> None:
        self._execution.cancel()

    def result_values(self) -> list[Row]:
        types, states, found = self._signature.result_types, [*map(self._state, self.results)], []
        skipped = self._skipped_results() if State.ERROR in states else ()
        for place, name in enumerate(result_names(len(types))):
            value, type_, state = self.results[place], types[place], states[place]
            if state is State.ERROR and place in skipped:
                found.append(Row(name, label(type_), State.SKIPPED, is_result=True))
                continue
            # A token's state already says that it is available.
            is_shown = state in SHOWN and not (state is State.AVAILABLE and type_ == TOKEN)
            # Created once, because a tensor's text takes a while.
            if is_shown and place not in self._texts:
                self._texts[place] = preview_of(value)
            found.append(Row(name, label(type_), state, self._texts.get(place, ""), is_result=True))
        return found

    def _skipped_results(self) -> Container[int]:
        """Return the indexes of the results whose errors are shown on other values."""
        self.events.update()
        seen, own = self.events.seen, label(self._signature.name)
        if all(one.state != "error" for one in seen.values()):
            return ()
        functions = self.events.program.data["functions"]
        numbers = next((row["results"] for row in functions if row["name"] == own), ())
        states = [seen[one].state if one in seen else "" for one in numbers]
        return {place for place, state in enumerate(states) if state == "skipped"}

    def named_values(self) -> list[Row]:
        """Return the function's own values, then the values of the functions that it called."""
        self.events.update()
        self.events.preview()
        if self._signature.is_compiled:
            return self._of_compiled()
        functions = self.events.program.data["functions"]
        # Workers add entries to `seen`; constants are available without any call.
        made = self.events.seen.keys() - self._constants
        own = label(self._execution.function.name)
        reached = {row["function"] for row in self.page.named_values if row["id"] in made}
        views, called = [], []
        for row in self.page.named_values:
            number, function = row["id"], functions[row["function"]]
            if function["name"] == own:
                views.append(self._shown(number, row["name"], row["type"], number in made))
            elif row["function"] in reached and function["kind"] in ("host", "sync"):
                name = f"@{function['name']} {row['name']}"
                called.append(self._shown(number, name, row["type"], number in made))
        return views + called

    @cached_property
    def _constants(self) -> set[int]:
        """Return the constant values, by id."""
        registers = self.events.program.registers
        return {
            registers[function][register]
            for function, found in enumerate(self._execution.program.constants)
            for register in found
            if register < len(registers[function])
        }

    def _of_compiled(self) -> list[Row]:
        """Return rows for a compiled function's values, and for its return if it has no results."""
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

    def _returned(self) -> Row:
        run = self._execution
        state, text = State.AVAILABLE, ""
        if run.request.is_cancelled:
            state = State.CANCELLED
        elif not run.done():
            state = State.UNAVAILABLE
        elif run.diagnostics:
            state, text = State.ERROR, clean(run.diagnostics[0].message)
        return Row("return", "", state, text)

    def _shown(self, number: int, name: str, type_: str, is_timed: bool = True) -> Row:
        """Return the row of a value in the program's document."""
        row = self.events.program.data["values"][number]
        if (outside := row.get("parent")) is not None:  # an argument of a `tfrt.jit`
            return replace(self._shown(outside, name, row["type"], is_timed=False), number=number)
        seen = self.events.seen.get(number)
        if seen is not None:
            state = State(seen.state)
        else:  # an argument of a compiled function may be available even without an event
            box = self.events.boxes.get(number)
            state = State.UNAVAILABLE if box is None else self._state(box)
        maker = row["op"]
        is_code = maker in self.events.program.code or self._signature.is_compiled
        if state is State.UNAVAILABLE and is_code:
            known = self.events.unlogged().get(maker, state)
            state = State.AVAILABLE if known == MORE else State(known)
        shown = self.events.previews.get(number, "chain" if type_ == CHAIN else "")
        is_error = state in (State.ERROR, State.SKIPPED)
        if is_error and shown == getattr(self._execution.request.cancellation, "message", None):
            # The kernel of this value, or of a value that it depends on, had started.
            state = State.CANCELLED
        text = shown if state in SHOWN and type_ != TOKEN else ""
        timed: dict[str, Any] = {}
        if seen is not None and is_timed:
            is_known = seen.worker is not None and seen.worker >= 0
            timed = {
                "worker": self.events.workers[seen.worker or 0] if is_known else None,
                "started_ns": seen.started,
                "resolved_ns": seen.resolved,
                "count": seen.count,
            }
        return Row(label(name), label(type_), state, text, number=number, **timed)

    def _state(self, value: AsyncValue) -> State:
        if not value.done():
            return State.UNAVAILABLE
        problem = value.exception(0)
        if problem is None:
            return State.AVAILABLE
        if problem.diagnostics[0].location is None and self._execution.request.is_cancelled:
            return State.CANCELLED
        return State.ERROR


class SteppedRun(TracedRun):
    """A run that a reader steps through. The stepper's thread runs the kernels."""

    def __init__(self, page: PageProgram, stepper: Stepper) -> None:
        events = RunDocument(page.program, stepper.execution, page.document)
        super().__init__(stepper.execution, page, events)
        self.stepper = stepper
        stepper.operation_of_task = events.operation_of_task

    def wait(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while not self.stepper.is_over and time.monotonic() < end:
            if not HAS_THREADS:
                self.stepper.ready(LOOK_SECONDS)
                ONE_THREAD.run()
                ONE_THREAD.let_page_in()
            time.sleep(LOOK_SECONDS)
        return self.stepper.is_over

    def cancel(self) -> None:
        self.stepper.cancel()

    def ready(self) -> list[int]:
        return self.stepper.ready(0)

    def step(self, operation: int | None, *, until: bool) -> None:
        if operation is None:
            self.stepper.run_to_end(0)
        elif until:
            self.stepper.run_to(operation, STEP_SECONDS)
        else:
            self.stepper.run(operation, STEP_SECONDS)
