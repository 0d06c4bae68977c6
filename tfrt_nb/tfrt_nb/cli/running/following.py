"""Observe runs of `tfrt-nb run` on a separate thread, for a trace or a progress line."""

from __future__ import annotations

import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from tfrt_nb.documents.run import RunDocument
from tfrt_nb.documents.trace import write_trace
from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.host.tracing.events import Watch, event_log
from tfrt_runtime.host.tracing.trace import Level
from tfrt_runtime.native.machine import HAS_THREADS

DRAIN_SECONDS = 0.05
"""The interval in seconds between drains of the event log.

A busy run fills its rings in just a few intervals.
"""
QUIET_SECONDS = 1.0
"""The delay in seconds before the progress line appears. A shorter run shows no line."""
SHOW_SECONDS = 0.1
MAX_NAMED = 3
"""The maximum number of running kernels, and of awaited values, that the line names."""
CLEAR = "\r\x1b[2K"
_STATES = ("available", "running", "error", "skipped", "cancelled")


class Follower(ABC):
    """Follows the runs of a program.

    Inside a `with` block, its thread polls the runs every `seconds` seconds.
    """

    logs_all = True
    """Whether to also log the values of sync functions, which makes these functions slower."""

    def __init__(self, name: str, seconds: float, program: Program) -> None:
        self._program = program
        self._ended = threading.Event()

        def work() -> None:
            while not self._ended.wait(seconds):
                self._look()

        if HAS_THREADS:
            self._thread = start_thread(name, work)
        else:
            ONE_THREAD.add(self._look, resolves=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None
    ) -> None:
        self._ended.set()
        if HAS_THREADS:
            self._thread.join()
        else:
            ONE_THREAD.remove(self._look)
        self._end()

    @abstractmethod
    def watch(self, program: Executable | None) -> Watch | None:
        """Return the watch for the next run."""

    @abstractmethod
    def follow(self, run: Execution) -> None:
        """Follow a run that has started."""

    def around(self, write: Callable[[str], None]) -> Callable[[str], None]:
        """Return a version of `write` for a terminal to which the follower also writes."""
        return write

    @abstractmethod
    def _look(self) -> None: ...

    @abstractmethod
    def _end(self) -> None:
        """Clean up after the last run. The thread has exited."""


class Trace(Follower):
    """Writes the runs of a command to a file for trace viewers when the command ends."""

    def __init__(self, path: str, level: Level, program: Program) -> None:
        """Follow the runs of a program.

        Raises:
            TfrtError: if the file cannot be written.
        """
        self._path, self._level = path, level
        self._documents: list[RunDocument] = []
        write_trace(path, ())  # check before the program runs that the file can be written
        super().__init__("trace", DRAIN_SECONDS, program)

    def watch(self, program: Executable | None) -> Watch | None:
        return Watch() if self._level > Level.NONE else None

    def follow(self, run: Execution) -> None:
        if run.watch is not None:
            self._documents.append(RunDocument(self._program, run))

    def _look(self) -> None:
        # Functions run one after another, so only the latest run logs events.
        for document in self._documents[-1:]:
            document.update()

    def _end(self) -> None:
        write_trace(self._path, self._documents, self._level)


class ProgressLine(Follower):
    """Shows a progress line for long runs, on standard error in a terminal."""

    logs_all = False

    def __init__(
        self,
        program: Program,
        stream: TextIO,
        quiet: float = QUIET_SECONDS,
        tier: Tier = Tier.AUTO,
    ) -> None:
        """Follow the runs of a program on a tier.

        The line appears after the first `quiet` seconds of each run.
        """
        self._stream, self._quiet, self._tier = stream, quiet, tier
        self._lock = threading.Lock()
        self._run: Execution | None = None
        self._document: RunDocument | None = None
        self._since = 0.0
        self._is_shown = False
        super().__init__("progress", SHOW_SECONDS, program)

    def watch(self, program: Executable | None) -> Watch | None:
        """Return the watch for the next run.

        Return None if the run's functions may become machine code, because functions of a watched
        run do not. The line then shows less.
        """
        may_be_hot = program is not None and program.machine.may_be_hot
        return None if may_be_hot and self._tier is not Tier.INTERPRETER else Watch()

    def follow(self, run: Execution) -> None:
        if run.watch is None:
            _ = run.progress  # from now on, the run counts its kernels
        with self._lock:
            self._run, self._document, self._since = run, None, time.monotonic()

    def around(self, write: Callable[[str], None]) -> Callable[[str], None]:
        """Return a version of `write` that first removes the follower's line from the terminal."""

        def write_text(text: str) -> None:
            self._end()
            write(text)
            sys.stdout.flush()

        return write_text

    def _end(self) -> None:
        with self._lock:
            if self._is_shown:
                self._put("")

    def _look(self) -> None:
        event_log().drain()  # drain the rings before they are full
        with self._lock:
            if self._run is not None and self._run.is_done:
                # This thread must not read the values of a run that has finished.
                self._run = self._document = None
            elapsed = time.monotonic() - self._since
            if self._run is not None and elapsed >= self._quiet:
                self._put(self._text(self._run, elapsed))
            elif self._is_shown:
                self._put("")

    def _text(self, run: Execution, seconds: float) -> str:
        if run.watch is None:
            return counted_text(run, seconds)
        if self._document is None:
            self._document = RunDocument(self._program, run)
        return progress_text(self._document, seconds)

    def _put(self, text: str) -> None:
        put_line(self._stream, text)
        self._is_shown = bool(text)


def put_line(stream: TextIO, text: str) -> None:
    """Overwrite the terminal's current line with a string, which is cut to fit."""
    width = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 80
    stream.write(CLEAR + (text if len(text) < width else text[: width - 2] + "…"))
    stream.flush()


def progress_text(document: RunDocument, seconds: float) -> str:
    """Return one line about a run that is watched.

    The line has the number of values in each state, the running kernels with their times, and the
    awaited values.
    """
    document.update()
    states = Counter(state for state, _ in document.states().values())
    counts = ", ".join(f"{states[word]} {word}" for word in _STATES if states[word])
    parts = [f"@{document.function} {seconds:.0f} s: {counts or 'nothing is available'}"]
    now = time.monotonic_ns() - (document.start or 0)
    rows = document.program.data["operations"]
    running = [
        f"{rows[number]['kernel']} (line {rows[number]['line']}, {(now - since) / 1e9:.1f} s)"
        for number, (since, _) in sorted(document.running.items())
    ]
    if running:
        parts.append(f"runs {_some(running)}")
    return "; ".join([*parts, *_waits(document.run)])


def counted_text(run: Execution, seconds: float) -> str:
    """Return one line about a run that is not watched.

    The line has the number of finished kernels, and the awaited values.
    """
    decided, known = run.progress
    how = ", compiled" if run.tier is Tier.COMPILED else ""
    counts = f"@{run.function.name} {seconds:.0f} s: {decided} of {known} kernels{how}"
    return "; ".join([counts, *_waits(run)])


def _waits(run: Execution) -> list[str]:
    waits = [note.message for note in run.waiting_for()]
    return [f"waits: {_some(waits)}"] if waits else []


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - MAX_NAMED} more" if len(texts) > MAX_NAMED else ""
    return ", ".join(texts[:MAX_NAMED]) + more
