"""A job: the functions of one cell, run one after another as on the command line.

A job has its own thread, which starts each function and waits until that function finishes.
Therefore, the notebook's main thread can always be interrupted. The main thread reads the job only
through `snapshot`. Where no thread can be started, the job runs on the main thread.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrt_magics.bridge.snapshot import (
    OVER,
    UNDECIDED,
    Row,
    Section,
    Snapshot,
    State,
    Status,
    decided,
    ended,
    pending,
    result_names,
)
from tfrt_nb.documents.escapes import label
from tfrt_runtime.diagnostics import Diagnostic, Severity, TfrtError
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.native.machine import HAS_THREADS

if TYPE_CHECKING:
    from tfrt_magics.bridge.runtime import LoadedProgram, PageProgram, SteppedProgram, TracedRun
    from tfrt_nb.documents.run import RunDocument
    from tfrt_nb.programs import FunctionSignature

# Set here because %load_ext imports this module: from the first cell on, `caller` must skip our
# frames. It must skip `threading`, too, because a job's thread has no caller of its own.
HOOKS.own_packages.update(("tfrt_magics", "threading"))

# If a stopped run does not finish within this time in seconds, the job ends without the run. A
# kernel of the run may be stuck. With the slice below, an interrupt takes at most half a second.
QUIESCENCE_SECONDS = 0.15
# In seconds. A stopped job ends sooner if the runtime responds.
STOP_SECONDS = 0.4
SLICE_SECONDS = 0.04
# The length of turns between cells, in seconds. The page waits during a turn.
TURN_SECONDS, LOOK_SECONDS = 0.001, 0.02
# The maximum number of unfinished kernels that a message names.
MAX_PROMISES = 3
# The maximum number of values that have rows. All other values of a program are only counted.
ROW_LIMIT = 2_000
LOG_LIMIT = 200_000

# The AsyncValue of a function's only result, or a tuple of AsyncValues.
Results = object


class Log:
    """The first `limit` characters that a program printed, and the number of omitted characters.

    The text only grows, so a board needs only the new part. Any thread may write and read.
    """

    def __init__(self, limit: int = LOG_LIMIT) -> None:
        self._lock = threading.Lock()
        self._pieces: list[str] = []
        self._room = limit
        self._dropped = 0

    def write(self, text: str) -> None:
        with self._lock:
            kept = text[: self._room]
            self._pieces.append(kept)
            self._room -= len(kept)
            self._dropped += len(text) - len(kept)

    def read(self) -> tuple[str, int]:
        """Return the text so far, and the number of omitted characters."""
        with self._lock:
            self._pieces = ["".join(self._pieces)]
            return self._pieces[0], self._dropped


class Job:
    """Runs the functions of one cell, one after another.

    When `finished` is set, the job is over and never changes again.
    """

    def __init__(
        self,
        program: LoadedProgram | SteppedProgram,
        functions: Sequence[FunctionSignature],
        arguments: Mapping[str, Sequence[object]] | None = None,
        *,
        timeout: float | None = None,
        work_queue: str = "",
    ) -> None:
        self.finished = threading.Event()
        self.failure: Exception | None = None
        self.is_simple = False
        """Whether the job's board leaves out workers and the work queue; set before the job starts.
        """
        self.results: dict[str, Results] = {}
        self._program, self._functions = program, functions
        self._arguments = arguments or {}
        self._timeout = timeout
        self._log = Log()
        # Reentrant, because `end` calls `missing` while it holds the lock.
        self._lock = threading.RLock()
        self._runs: list[TracedRun] = []
        self._refused: tuple[Diagnostic, ...] = ()
        self._sections = [_before_run(function) for function in functions]
        self._latest = Snapshot(Status.RUNNING, tuple(self._sections), work_queue)
        self._stopped = Status.RUNNING
        self._stop_time = 0.0
        self._note = ""
        self._at_stop: tuple[int | None, list[str]] = None, []
        """The function that was running when the job was stopped, and its kernels' unresolved
        results.
        """
        self._start = time.monotonic()
        self.meanwhile: Callable[[], None] = lambda: None
        """Called periodically while the job works on the thread that started it."""
        self._waits_for_end = True
        self._has_results = threading.Event()
        # The runtime names a worker after its thread, and this thread runs tasks while it waits.
        # The work runs in the cell's context, like the runs that it starts. A deque of length 0
        # exhausts the generator.
        self._thread = threading.Thread(
            target=copy_context().run, args=(deque, self._work(), 0), name="cell", daemon=True
        )

    def start(self, *, waits: bool = True) -> None:
        """Start the job.

        Where no thread can be started, the job is over when this method returns. If `waits` is
        False, the job instead continues between cells.
        """
        self._start = time.monotonic()
        if not HAS_THREADS:
            self._waits_for_end = waits
            work = self._work()
            ONE_THREAD.add(self._look_around, resolves=False, looks_on=True)

            def go_on() -> float | None:
                # Advance `work` by one turn. The loop's body runs unless `work` is exhausted.
                for _ in work:
                    return LOOK_SECONDS
                ONE_THREAD.remove(go_on)
                return None

            if waits:
                deque(work, 0)
            elif go_on() is not None:
                ONE_THREAD.add(go_on, resolves=False)
            return
        self._thread.start()
        if self._timeout is not None:
            # This needs a separate thread, because the job's thread runs tasks while it waits, and
            # may stay in one kernel for a long time. The thread has the same name, because the
            # runtime may report it as the thread that resolved a value.
            start_thread(self._thread.name, self._time_out, self._timeout)

    def wait_for_results(self) -> None:
        """Return once the first function runs, so that `results` holds its AsyncValues."""
        self._has_results.wait()

    def cancel(self, note: str) -> None:
        """Cancel the running function, and start no others. `note` is a line that says why."""
        self._stop(Status.CANCELLED, note)

    def lose(self) -> None:
        """Stop because the kernel exits. Pages then show the status of a lost kernel."""
        self._stop(Status.KERNEL_GONE, "")

    def end(self) -> None:
        """End the job now, even if a kernel is still running.

        Values that are unresolved at this moment get the state of a stopped run.
        """
        with self._lock:
            if self.finished.is_set():
                return
            self._sections = [_closed(section, self._stopped) for section in self._look()]
            if self._stopped is Status.TIMED_OUT:
                self._note += f"; {self.missing()}"
            self._latest = self._snapshot(self._outcome())
            self.finished.set()

    def snapshot(self) -> Snapshot:
        """Return the current state of the job.  Any thread may call this."""
        with self._lock:
            if not self.finished.is_set():
                self._sections = self._look()
                self._latest = self._snapshot(Status.RUNNING)
            return self._latest

    def standing(self) -> Snapshot:
        """Return a snapshot. The values of a running job may be out of date."""
        with self._lock:
            if not self.finished.is_set():
                self._latest = self._snapshot(Status.RUNNING)
            return self._latest

    def logs(self) -> list[RunDocument]:
        """Return the events of each function that has started."""
        with self._lock:
            return [run.events for run in self._runs]

    def ready(self) -> Sequence[int] | None:
        """Return the operations that the reader may run next, or None if the job is not stepped."""
        with self._lock:
            return None if not self._runs or self.finished.is_set() else self._runs[-1].ready()

    def step(self, operation: int | None, *, until: bool = False) -> None:
        """Continue a stepped run; see `TracedRun.step`."""
        with self._lock:
            running = self._runs[-1:]
        # A step may take seconds, and the pump needs the lock for its snapshots.
        for run in running:
            run.step(operation, until=until)

    def document(self) -> PageProgram:
        """Return the running program in the pages' format."""
        return self._program.document

    @property
    def output(self) -> Results:
        """Return the value for the option `-o`.

        For one function, the value is the function's results. For several functions, it is a
        dictionary from function names to results. The job owns this dictionary and adds to it as
        functions start.
        """
        return self.results if len(self._functions) > 1 else self.results[self._functions[0].name]

    def all_results(self) -> list[object]:
        """Return the AsyncValues of the functions that have started, in order."""
        return [
            value
            for results in self.results.values()
            for value in (results if isinstance(results, tuple) else (results,))
        ]

    def missing(self) -> str:
        """Describe the values that the running function still awaits.

        For a stopped job, describe the values that never became available. A kernel that had
        started may have finished before the job ended, so its values may exist.
        """
        with self._lock:
            is_stopped = self._stopped is not Status.RUNNING
            place, promised = self._at_stop if is_stopped else self._waits()
            words = [] if place is None else [waiting_for(self._look()[place]), *promised]
        return "; ".join(words) or "no function was running"

    def _waits(self) -> tuple[int | None, list[str]]:
        """Return the index of the running function, and a note for each unresolved result."""
        place = len(self._runs) - 1
        if place < 0 or self._sections[place].status in OVER:
            return None, []
        return place, [note.message for note in self._runs[place].waiting_for()][:MAX_PROMISES]

    @property
    def was_refused(self) -> bool:
        """Whether no function ran because an argument does not match its parameter."""
        return bool(self._refused) and not self._runs

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics so far, in the order in which they were reported."""
        with self._lock:
            reported = (diagnostic for run in self._runs for diagnostic in run.diagnostics)
            return (*reported, *self._refused)

    def _work(self) -> Generator[None]:
        """Run the functions. Yield wherever other work may run on the same thread."""
        try:
            for place, function in enumerate(self._functions):
                if self._stopped is Status.RUNNING:
                    yield from self._run(place, function)
        except TfrtError as problem:
            self._refused = problem.diagnostics
            self._stop(Status.FAILED, problem.diagnostics[0].message)
        except KeyboardInterrupt:
            self._stop(Status.CANCELLED, "a kernel raised KeyboardInterrupt, which cancels its run")
        except Exception as problem:  # noqa: BLE001
            # This is a bug in tfrt-nb. Let the main thread raise it, so that its traceback is
            # shown.
            self.failure = problem
            self._stop(Status.FAILED, f"{type(problem).__name__}: {problem}")
        finally:
            if not HAS_THREADS:
                ONE_THREAD.remove(self._look_around)
            # If no function could start, `wait_for_results` must return, too.
            self._has_results.set()
            self.end()

    def _look_around(self) -> None:
        """Do the work that other threads would do while the job runs: a source of `one_thread`."""
        self.meanwhile()
        elapsed = time.monotonic() - self._start
        if self._timeout is not None and elapsed > self._timeout:
            self._stop(Status.TIMED_OUT, f"timed out after {self._timeout:g} s")
            # A kernel that sleeps on this thread would not notice the stop.
            ONE_THREAD.end_sleep()

    def _run(self, place: int, function: FunctionSignature) -> Generator[None]:
        arguments = self._arguments.get(function.name, ())
        run = self._program.run(function.name, self._log.write, arguments)
        with self._lock:
            self._runs.append(run)
            self.results[function.name] = unwrapped(run.results)
        self._has_results.set()
        if self._stopped is not Status.RUNNING:
            run.cancel()  # the job was stopped between two functions
        yield from self._wait(run)
        with self._lock:
            self._sections[place] = _closed(
                _during_run(function, run),
                self._stopped,
                failed=any(one.severity is Severity.ERROR for one in run.diagnostics),
            )

    def _wait(self, run: TracedRun) -> Generator[None]:
        while not run.wait(SLICE_SECONDS if self._waits_for_end else TURN_SECONDS):
            yield
            if not HAS_THREADS:
                self._look_around()
                if self._waits_for_end and self.ready() is None and ONE_THREAD.gives_up():
                    nothing = "in a page, nothing else can run while a cell runs"
                    self._stop(Status.FAILED, f"stuck; {self.missing()}; {nothing}")
            if self._stopped is not Status.RUNNING:
                if time.monotonic() - self._stop_time > QUIESCENCE_SECONDS:
                    return
            elif run.is_stuck:
                self._stop(Status.FAILED, f"stuck; {self.missing()}")

    def _time_out(self, seconds: float) -> None:
        # `wait` raises an OverflowError for a longer time.
        if not self.finished.wait(min(seconds, threading.TIMEOUT_MAX)):
            self._stop(Status.TIMED_OUT, f"timed out after {seconds:g} s")
            # The job's thread may be stuck in a kernel. If so, this thread ends the job.
            self.finished.wait(STOP_SECONDS)
            self.end()

    def _stop(self, status: Status, note: str) -> None:
        with self._lock:
            if self.finished.is_set() or self._stopped is not Status.RUNNING:
                return
            # Collect the unresolved values now, because the cancellation below resolves them.
            self._at_stop = self._waits()
            # Set the time before the status, because `_wait` reads both without the lock.
            self._stop_time = time.monotonic()
            self._stopped, self._note = status, note
            running = self._runs[-1:]
        # Cancel outside the lock, because cancelling runs the waiters of every value that it
        # resolves.
        for run in running:
            run.cancel()

    def _look(self) -> list[Section]:
        """Return the current sections. Sections of finished functions do not change."""
        looked = list(self._sections)
        for place, run in enumerate(self._runs):
            if looked[place].status not in OVER:
                looked[place] = _during_run(self._functions[place], run)
        return looked

    def _snapshot(self, status: Status) -> Snapshot:
        log, dropped = self._log.read()
        return replace(
            self._latest,
            status=status,
            sections=tuple(self._sections),
            elapsed_ns=int((time.monotonic() - self._start) * 1e9),
            log=log,
            log_dropped=dropped,
            note=self._note,
            is_simple=self.is_simple,
        )

    def _outcome(self) -> Status:
        if self._stopped is not Status.RUNNING:
            return self._stopped
        found = {section.status for section in self._sections}
        worst = (status for status in (Status.FAILED, Status.CANCELLED) if status in found)
        return next(worst, Status.DONE)


def _before_run(function: FunctionSignature) -> Section:
    """Return the section of a function that has not started: the names and types of its results."""
    names = result_names(len(function.result_types))
    rows = tuple(
        Row(name, label(type_), State.UNAVAILABLE, is_result=True)
        for name, type_ in zip(names, function.result_types, strict=True)
    )
    return Section(label(function.name), Status.WAITING, rows)


def _during_run(function: FunctionSignature, run: TracedRun) -> Section:
    """Return the current section of a running function."""
    values = run.named_values()
    rows = (*run.result_values(), *values[:ROW_LIMIT])
    return Section(label(function.name), Status.RUNNING, rows, decided(values[ROW_LIMIT:]))


def unwrapped(results: Sequence[object]) -> Results:
    """Return the only result, or the tuple of results if there is not exactly one."""
    return results[0] if len(results) == 1 else tuple(results)


def _closed(section: Section, stopped: Status, failed: bool = False) -> Section:
    """Return the final section.

    `stopped` is the reason for values that are missing, and `failed` says whether the run has
    reported an error.
    """
    if section.status in OVER:
        return section
    states = {row.state for row in section.rows}
    # A function that had computed all its values before the stop keeps its own status.
    if stopped is not Status.RUNNING and (states & UNDECIDED or section.status is Status.WAITING):
        return ended(section, stopped)
    # The value that failed may have no name and therefore no row, or there may be no value. The
    # program may have replaced the error of a value that is not a result.
    if failed or {State.ERROR, State.SKIPPED} & {
        row.state for row in section.rows if row.is_result
    }:
        return ended(section, Status.FAILED)
    # The run may have cancelled itself.
    return ended(section, Status.CANCELLED if State.CANCELLED in states else Status.DONE)


def waiting_for(section: Section, limit: int = 5) -> str:
    """Return the names of the values that a stopped function did not compute."""
    names = pending(section)
    count = len(names) + section.hidden.total - section.hidden.resolved
    if not count:
        return f"@{section.name} had all its values"
    more = f" and {count - limit} more" if count > limit else ""
    return f"@{section.name} was still waiting for {', '.join(names[:limit])}{more}"
