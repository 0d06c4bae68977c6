"""A job as a run document, which grows while the job goes on.

The document is JSON: the program with its layout, the events in columns, the text of each value, the log.
The page's `document.js` reads it.  Times are nanoseconds since the first event.
"""

from __future__ import annotations

import base64
import json
import threading
import zlib
from collections.abc import Mapping
from typing import Any, Protocol

from tfrt_magics.bridge.run import ProgramOnPage
from tfrt_magics.bridge.snapshot import OVER, Row, Section, Snapshot, State

RUN_MIME = "application/vnd.tfrt.run.v2+json"
KINDS = ("begin", "available", "error", "skipped", "cancelled")
COLUMNS = ("time", "kind", "op", "value", "instance", "worker", "payload")
MOST_EVENTS = 100_000
MOST_IN_FRAME = 5_000

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Document = dict[str, Any]


class Looked(Protocol):
    """What is recorded: a job."""

    def snapshot(self) -> Snapshot: ...
    def document(self) -> ProgramOnPage:
        """The program, made when it is first asked for."""


class Record:
    """The document of one run.  `look` is called by one thread at a time; any thread may read."""

    def __init__(self, job: Looked, head: Mapping[str, Json]) -> None:
        """`head` says which run it is and where it belongs: `run`, `session`, `client`, `cell`."""
        self._job, self._program = job, job.document()
        self._head = dict(head)
        self._lock = threading.Lock()
        self._rows: dict[int, Row] = {}
        self._columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self._workers: list[str] = []
        self._previews: dict[int, str] = {}
        self._counts: dict[int, int] = {}
        self._dropped = 0
        self._log: list[list[Any]] = []
        self._log_size = 0
        self.snapshot = job.snapshot()
        self._take(self.snapshot)

    @property
    def is_over(self) -> bool:
        return self.snapshot.status in OVER

    @property
    def id(self) -> str:
        return str(self._head["run"])

    def look(self) -> Document | None:
        """What is new since the last look, as a message; None if nothing is."""
        snapshot = self._job.snapshot()
        with self._lock:
            before, logged = len(self._columns["time"]), len(self._log)
            is_same = _still(snapshot) == _still(self.snapshot)
            self.snapshot = snapshot
            if is_same:
                return None
            changed = self._take(snapshot)
            return {
                **self._state(),
                "from": before,
                "events": self._events(before),
                "previews": {number: self._previews[number] for number in changed},
                "log_from": logged,
                "log": self._log[logged:],
            }

    def since(self, event: int) -> Document:
        """All that a page does not have that has the first `event` events."""
        with self._lock:
            first = min(max(0, event), len(self._columns["time"]))
            rest = {"previews": self._previews, "log_from": 0, "log": self._log}
            return {**self._state(), "from": first, "events": self._events(first), **rest}

    def frame(self) -> list[list[int | str]]:
        """The present state of the first values that are decided, for a page that has just come."""
        with self._lock:
            rows = list(self._rows.items())[:MOST_IN_FRAME]
            return [[number, str(row.state), row.worker or ""] for number, row in rows]

    def file(self) -> dict[str, Json]:
        """The document as a file holds it."""
        with self._lock:
            body = {**self._program.body, **self._body()}
            text = json.dumps(body, separators=(",", ":")).encode()
            state = {key: value for key, value in self._state().items() if key not in body}
            packed = base64.b64encode(zlib.compress(text, 6)).decode()
            return {"version": 2, **state, "packed": packed}

    def _state(self) -> Document:
        """The head, and what is small enough to be sent each time."""
        return {
            **self._head,
            "status": str(self.snapshot.status).replace(" ", "-"),
            "note": clean(self.snapshot.note),
            "work_queue": self.snapshot.work_queue,
            "elapsed": self.snapshot.elapsed_ns,
            **self._small(),
        }

    def _small(self) -> Document:
        sections = self.snapshot.sections
        return {
            "functions": [{"name": one.name, "status": str(one.status)} for one in sections],
            "workers": self._workers,
            "dropped": self._dropped,
            "counts": self._counts,
            "results": {one.name: _results(one) for one in sections},
            "log_dropped": self.snapshot.log_dropped,
        }

    def _body(self) -> Document:
        return {
            **self._small(),
            "events": self._events(0),
            "previews": self._previews,
            "log": self._log,
        }

    def _events(self, first: int) -> Document:
        return {"kinds": KINDS, **{name: self._columns[name][first:] for name in COLUMNS}}

    def _take(self, snapshot: Snapshot) -> list[int]:
        """Record what differs from the last snapshot; the values that have another text."""
        changed = []
        new: list[tuple[int, str, int, int | None, Row]] = []
        for section in snapshot.sections:
            for row in section.rows:
                number = None if row.is_result else self._value_of(row)
                before = None if number is None else self._rows.get(number)
                if number is None or row == before or row.state is State.UNAVAILABLE:
                    continue
                self._rows[number] = row
                if row.text and row.text != self._previews.get(number):
                    self._previews[number] = clean(row.text)
                    changed.append(number)
                if row.count > 1:
                    self._counts[number] = row.count
                if row.resolved_ns is not None:
                    self._span(new, number, row)
        for time, kind, number, operation, row in sorted(new, key=lambda each: each[0]):
            self._add(time, kind, number, operation, row)
        self._take_log(snapshot)
        return changed

    def _value_of(self, row: Row) -> int | None:
        if row.register is not None:
            return self._program.value_of(row.register)
        if row.line is None or row.column is None:
            return None
        return self._program.value_at(row.line, row.column, row.type)

    def _span(self, new: list[Any], number: int, row: Row) -> None:
        operation = self._program.body["program"]["values"][number]["op"]
        assert row.resolved_ns is not None
        if row.started_ns is not None:
            new.append((row.started_ns, "begin", number, operation, row))
        new.append((row.resolved_ns, str(row.state), number, operation, row))

    def _add(self, time: int, kind: str, number: int, operation: int | None, row: Row) -> None:
        if len(self._columns["time"]) >= MOST_EVENTS:
            self._dropped += 1
            return
        worker = row.worker or ""
        if worker not in self._workers:
            self._workers.append(worker)
        value = None if kind == "begin" else number
        fields = (
            time,
            KINDS.index(kind),
            operation,
            value,
            row.count,
            self._workers.index(worker),
            None,
        )
        for name, field in zip(COLUMNS, fields, strict=True):
            self._columns[name].append(field)

    def _take_log(self, snapshot: Snapshot) -> None:
        text = snapshot.log[self._log_size :]
        if text:
            self._log.append([snapshot.elapsed_ns, None, clean(text)])
            self._log_size = len(snapshot.log)


def _results(section: Section) -> list[list[str]]:
    words = {State.UNAVAILABLE: "waiting"}
    rows = [row for row in section.rows if row.is_result]
    return [[str(words.get(row.state, row.state)), clean(row.text)] for row in rows]


def _still(snapshot: Snapshot) -> tuple[object, ...]:
    """A snapshot without the time, which passes by itself."""
    return (snapshot.status, snapshot.note, snapshot.sections, snapshot.log, snapshot.log_dropped)


def clean(text: str) -> str:
    """`text` as any page and file can hold it: half a surrogate pair is a question mark."""
    return text.encode("utf-8", "replace").decode()
