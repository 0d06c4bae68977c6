"""A trace as a file that Perfetto and chrome://tracing open."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.tracing.trace import Activity

CHROME_PROCESS = 1
CHROME_BATCH = 1000


class ChromeSink:
    """Writes a JSON file that Perfetto and chrome://tracing open.

    What runs on one thread is a complete event, what may end on another one two asynchronous events, in
    the format's "traceEvents".  Times are microseconds since `start_ns`.
    """

    def __init__(self, path: str | Path, start_ns: int | None = None) -> None:
        """`start_ns` is a time of `time.monotonic_ns`, by default now.

        Raises:
            TfrtError: if the file cannot be written.
        """
        self._path = path
        self._start = time.monotonic_ns() if start_ns is None else start_ns
        self._lock = threading.RLock()
        self._waiting: list[str] = []
        self._threads: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._problem: OSError | None = None
        try:
            self._file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 - until `close`
            self._file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        except OSError as problem:
            raise self._refusal(problem) from None
        self._separator = ""

    def begin(self, activity: Activity) -> None:
        """Nothing: it is written when it ends."""

    def end(self, one: Activity) -> None:
        name = f'"name":{self._quoted(one.name)}'
        begin, end = self._micros(one.begin_ns), self._micros(one.end_ns or one.begin_ns)
        if not one.id:
            args = f',"args":{{"place":{self._quoted(one.place)}}}' if one.place else ""
            duration = round(end - begin, 3)
            self._add(one, f'"ph":"X","cat":"kernel",{name},"ts":{begin},"dur":{duration}{args}')
            return
        category, separator, _ = one.name.partition(":")
        rest = f'"cat":{self._quoted(category if separator else "run")},"id":{one.id},{name}'
        self._add(one, f'"ph":"b",{rest},"ts":{begin}', f'"ph":"e",{rest},"ts":{end}')

    def event(self, one: Activity) -> None:
        name, time_ = self._quoted(one.name), self._micros(one.begin_ns)
        self._add(one, f'"ph":"i","s":"t","name":{name},"ts":{time_}')

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

    def _micros(self, time_ns: int) -> float:
        return (time_ns - self._start) / 1000

    def _quoted(self, text: str) -> str:
        """`text` in JSON; there are few different ones."""
        quoted = self._names.get(text)
        if quoted is None:
            quoted = self._names[text] = json.dumps(text)
        return quoted

    def _add(self, one: Activity, *all_fields: str) -> None:
        """Add events of the thread of an activity."""
        with self._lock:
            if self._file.closed:
                return
            number = self._threads.get(one.worker)
            if number is None:
                number = self._threads[one.worker] = len(self._threads) + 1
                place = f'"pid":{CHROME_PROCESS},"tid":{number}'
                args = f'"args":{{"name":{self._quoted(one.worker)}}}'
                self._waiting.append(f'{{"ph":"M","name":"thread_name",{place},{args}}}')
            for fields in all_fields:
                self._waiting.append(f'{{{fields},"pid":{CHROME_PROCESS},"tid":{number}}}')
            if len(self._waiting) >= CHROME_BATCH:
                self._flush()

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
