"""A trace as a file that Perfetto and chrome://tracing open."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tfrt_runtime.diagnostics import TfrtError, error

CHROME_PROCESS = 1
CHROME_BATCH = 1000


class ChromeSink:
    """Writes a JSON file that Perfetto and chrome://tracing open.

    Scopes are complete events on their thread, spans are asynchronous events with their number, in
    the format's "traceEvents".  Times are microseconds since the sink was made.
    """

    def __init__(self, path: str | Path, clock: Callable[[], int] = time.monotonic_ns) -> None:
        """
        Raises:
            TfrtError: if the file cannot be written.
        """
        self._path = path
        self._clock = clock
        self._start = clock()
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        self._threads: dict[int, int] = {}
        self._names: dict[str, str] = {}
        self._local = threading.local()
        self._problem: OSError | None = None
        try:
            self._file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 - until `close`
            self._file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        except OSError as problem:
            raise self._refusal(problem) from None
        self._separator = ""

    def event(self, name: str) -> None:
        self._add(f'"ph":"i","s":"t","name":{self._quoted(name)},"ts":{self._now()}')

    def push(self, name: str) -> None:
        scopes: list[tuple[str, float]] | None = getattr(self._local, "scopes", None)
        if scopes is None:
            scopes = self._local.scopes = []
        scopes.append((name, self._now()))

    def pop(self) -> None:
        name, begin = self._local.scopes.pop()
        duration = round(self._now() - begin, 3)
        self._add(f'"ph":"X","name":{self._quoted(name)},"ts":{begin},"dur":{duration}')

    def begin(self, name: str, number: int) -> None:
        self._add_span("b", name, number)

    def end(self, name: str, number: int) -> None:
        self._add_span("e", name, number)

    def close(self) -> None:
        """
        Raises:
            TfrtError: if the file could not be written.
        """
        with self._lock:
            if self._file.closed:
                return
            self._flush()
            try:
                with self._file:
                    self._file.write("\n]}\n")
            except OSError as problem:
                self._problem = self._problem or problem
        if self._problem is not None:
            raise self._refusal(self._problem)

    def _add_span(self, phase: str, name: str, number: int) -> None:
        category, separator, _ = name.partition(":")
        quoted = self._quoted(category if separator else "run")
        self._add(
            f'"ph":"{phase}","cat":{quoted},"id":{number},"name":{self._quoted(name)},'
            f'"ts":{self._now()}'
        )

    def _now(self) -> float:
        return (self._clock() - self._start) / 1000

    def _quoted(self, text: str) -> str:
        """`text` in JSON; there are few different ones."""
        quoted = self._names.get(text)
        if quoted is None:
            quoted = self._names[text] = json.dumps(text)
        return quoted

    def _add(self, fields: str) -> None:
        """Add an event of this thread."""
        thread = threading.get_ident()
        with self._lock:
            if self._file.closed:
                return
            number = self._threads.get(thread)
            if number is None:
                number = self._threads[thread] = len(self._threads) + 1
                self._waiting.append(self._thread_name(number))
            self._waiting.append(f'{{{fields},"pid":{CHROME_PROCESS},"tid":{number}}}')
            if len(self._waiting) >= CHROME_BATCH:
                self._flush()

    def _thread_name(self, number: int) -> str:
        name = threading.current_thread().name
        shown = self._quoted("main" if name == "MainThread" else name)
        here = f'"pid":{CHROME_PROCESS},"tid":{number}'
        return f'{{"ph":"M","name":"thread_name",{here},"args":{{"name":{shown}}}}}'

    def _flush(self) -> None:
        """Write what waits; a full disk ends no thread, but `close` says so."""
        lines, self._waiting = self._waiting, []
        if not lines or self._problem is not None:
            return
        try:
            self._file.write(self._separator + ",\n".join(lines))
            self._separator = ",\n"
        except OSError as problem:
            self._problem = problem

    def _refusal(self, problem: OSError) -> TfrtError:
        return TfrtError(error(f"cannot write the trace '{self._path}': {problem.strerror}"))
