"""Runs that are followed while they go on, for the trace of `tfrt-nb run --trace FILE`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tfrt_nb.documents.run import RunDocument
from tfrt_nb.documents.trace import write_trace
from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.host.tracing.events import Watch
from tfrt_runtime.host.tracing.trace import Level

DRAIN_SECONDS = 0.05
"""The rings of a busy run are full after a few times as much."""


class Trace:
    """The runs of a command as a file for trace viewers, written at the end."""

    def __init__(self, path: str, level: Level, program: Program) -> None:
        """
        Raises:
            TfrtError: if the file cannot be written.
        """
        self._path, self._level, self._program = path, level, program
        self._documents: list[RunDocument] = []
        self._ended = threading.Event()
        write_trace(path, ())  # a file that cannot be written is refused at once
        self._thread = start_thread("trace", self._drain)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        write_trace(self._path, self._documents, self._level)

    def watch(self, _: Executable | None) -> Watch | None:
        """What the next run is watched with."""
        return Watch() if self._level > Level.NONE else None

    def follow(self, run: Execution) -> None:
        """A run has started."""
        if run.watch is not None:
            self._documents.append(RunDocument(self._program, run))

    def around(self, write: Callable[[str], None]) -> Callable[[str], None]:
        """`write`, as it is."""
        return write

    @property
    def logs_all(self) -> bool:
        """Whether the values of sync functions are wanted, too."""
        return True

    def _drain(self) -> None:
        while not self._ended.wait(DRAIN_SECONDS):
            for document in self._documents[-1:]:
                document.update()
