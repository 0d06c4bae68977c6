"""A record: a job as a run document, which grows while the job runs.

A run document is JSON. It contains the program with its layout, the events in columns, the text of
each value, and the printed text. The page's `document.js` reads it. Times are nanoseconds since the
first event.

In files, a small document is JSON text, because a busy page takes tens of milliseconds to inflate
anything. Any other document is deflated, and its long lists become columns: numbers are written as
differences, and a repeated item is written only once. `document.js` converts columns back to rows.
It also reads documents with rows, which earlier versions saved.
"""

from __future__ import annotations

import base64
import json
import threading
import zlib
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import accumulate
from operator import sub
from typing import TYPE_CHECKING, Any, Protocol

from tfrt_magics.bridge.job import LOG_LIMIT
from tfrt_magics.bridge.snapshot import OVER, Snapshot, State
from tfrt_nb.documents.escapes import visible
from tfrt_nb.documents.events import FirstAndNewest, by_time
from tfrt_runtime.native.layouts import LOG_KINDS as KINDS

if TYPE_CHECKING:
    from tfrt_nb.documents.run import RunDocument

RUN_MIME = "application/vnd.tfrt.run.v2+json"
# The number of events that are kept from the start of a run, and again from its end.
MAX_EVENTS = 50_000
# After this many events, a page receives only current states until the run is over.
MAX_LIVE = 20_000
MAX_IN_FRAME = 5_000
MAX_STAGES = 2_000_000
"""The maximum length of the stages that a file contains. Longer stages are only shown."""

CERTAIN = ("unrecorded", "available", "error", "more")
"""The states of operations without events, from the least to the most certain."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Document = dict[str, Any]


class Recorded(Protocol):
    """A run that can be recorded: a job of a cell, or a run that Python started."""

    def document(self) -> Any:
        """Return the constant part of the document. Its `body` contains the program."""

    def logs(self) -> Sequence[Any]:
        """Return the events of each function that has started: run documents or similar."""

    def ready(self) -> Sequence[int] | None:
        """Return the operations that the reader may run next, or None if the run is not stepped."""

    def snapshot(self) -> Snapshot:
        """Return the current state of the run."""

    def standing(self) -> Snapshot:
        """Return the state of the run. While the run continues, values may be out of date."""

    def cancel(self, note: str) -> object:
        """Cancel the run."""


class Record:
    """The document of one run. Only one thread at a time may call `look`; any thread may read."""

    def __init__(self, job: Recorded, head: Mapping[str, Json]) -> None:
        """`head` contains the run's id and place: `run`, `session`, `client`, and `cell`.

        In a kernel without a control channel, `head` also has `flag`, the address of the run's
        `Flag`.
        """
        self._job, self.program = job, job.document()
        """The program. If it has operations, pages may request its stages and bytes."""
        self._head = head
        self._lock = threading.RLock()
        self._kept = FirstAndNewest(MAX_EVENTS)
        self._start: int | None = None
        self._instances = 0
        self._previews: dict[int, str] = {}
        self._pictures: dict[int, Any] = {}
        self._log: list[list[Any]] = []
        self._taken: list[int] = []
        self._size = 0
        self._ready: Sequence[int] | None = None
        self._stages: Document | None = None
        self._names: list[str] = []
        self._heard: set[int] = set()
        """The numbers of threads that have events in this run. Their names stay the same."""
        # The rows of a large program take a while. A page shows the board without them, and other
        # front ends see them at the end.
        is_large = len(self.program.body.get("program", {}).get("values", ())) > MAX_IN_FRAME
        self.snapshot = job.standing() if is_large else job.snapshot()
        self._said = _still(self.snapshot)
        self._take()

    @property
    def is_over(self) -> bool:
        return self.snapshot.status in OVER

    @property
    def is_stepped(self) -> bool:
        """Whether the run continues only when a reader of the board asks for the next step."""
        return not self.is_over and self._job.ready() is not None

    @property
    def events(self) -> int:
        """The number of events so far."""
        return self._kept.total

    @property
    def id(self) -> str:
        return str(self._head["run"])

    def look(self) -> Document | None:
        """Return the changes since the last call as a message, or None if there are none."""
        with self._lock:
            self.snapshot = self._job.standing()
            before, logged, previews = self._kept.total, len(self._log), dict(self._previews)
            self._take()
            self._ready = self._job.ready()
            said = (*_still(self.snapshot), self._ready, self._remote())
            if (self._kept.total, len(self._log), self._previews, said) == (
                before,
                logged,
                previews,
                self._said,
            ):
                return None
            is_told, self._said = said[-1:] != self._said[-1:], said
            new = {n: text for n, text in self._previews.items() if previews.get(n) != text}
            pictures = {n: self._pictures[n] for n in new if n in self._pictures}
            rest = {"previews": new, "log_from": logged, "log": self._log[logged:]}
            rest |= {"pictures": pictures} if pictures else {}
            message = {**self._state(), **rest}
            if not is_told:
                del message["remote"]
            if before < MAX_LIVE:
                message |= {"from": before, "events": self._events(before, MAX_LIVE)}
            return message

    def stages(self) -> Document:
        """Return the stages of the program. Only the first call computes them."""
        if self._stages is None:
            self._stages = self.program.stages()
        return self._stages

    def preview(self) -> None:
        """Create the previews of values that are not numbers; this can be slow."""
        for log in self._job.logs():
            log.preview()

    def since(self, event: int) -> Document:
        """Return everything that a page still needs if it has the first `event` events."""
        with self._lock:
            first = min(max(0, event), len(self._kept.first["time"]))
            return {**self.without_events(), "from": first, "events": self._events(first)}

    def without_events(self) -> Document:
        """Return the state of the run, for a page that gets the events separately."""
        with self._lock:
            rest = {"previews": self._previews, "log_from": 0, "log": self._log}
            rest["pictures"] = self._pictures
            return {**self._state(), **rest}

    def frame(self) -> list[list[int | str]]:
        """Return the current states of the first values that have one, for a new page."""
        with self._lock:
            labels = self._workers()
            states = {n: state for log in self._job.logs() for n, state in log.states().items()}
            found = list(states.items())[:MAX_IN_FRAME]
            return [
                [n, state, "" if w is None or not 0 <= w < len(labels) else labels[w]]
                for n, (state, w) in found
            ]

    def file(self) -> dict[str, Json]:
        """Return the document in the file format."""
        with self._lock:
            stages = self._stages or {"rows": []}
            size = sum(len(row["text"]) for row in stages["rows"])
            body = {
                **self._small(),
                **({"stages": stages} if 0 < size <= MAX_STAGES else {}),
                "events": self._events(0),
                "previews": self._previews,
                **({"pictures": self._pictures} if self._pictures else {}),
                "log": self._log,
            }
            state = {key: value for key, value in self._state().items() if key not in body}
            return {"version": 2, **state, **self._writer.written(body)}

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self.program.body)

    def _state(self) -> Document:
        """Return the head, and all parts that are small enough to be sent with every message."""
        return {
            **self._head,
            "status": str(self.snapshot.status).replace(" ", "-"),
            "note": visible(self.snapshot.note),
            "work_queue": self.snapshot.work_queue,
            "elapsed": self.snapshot.elapsed_ns,
            **self._small(),
        }

    def _small(self) -> Document:
        words = {State.UNAVAILABLE: "waiting"}
        sections = self.snapshot.sections
        rows = [row for one in sections for row in one.rows]
        cancelled = [row.number for row in rows if row.state is State.CANCELLED]
        dropped = self._kept.dropped + sum(log.dropped for log in self._job.logs())
        return {
            "functions": [{"name": one.name, "status": str(one.status)} for one in sections],
            "workers": self._workers(),
            "dropped": dropped,
            "counts": self._counts(all_of_them=dropped > 0) if self.is_over else {},
            "absent": [number for log in self._job.logs() for number in log.absent],
            "cancelled": [one for one in cancelled if one is not None] if self.is_over else [],
            "unlogged": self._unlogged() if self.is_over else {},
            "results": {
                one.name: [
                    [str(words.get(row.state, row.state)), row.text]
                    for row in one.rows
                    if row.is_result
                ]
                for one in sections
            },
            "log_dropped": self.snapshot.log_dropped,
            "ready": self._ready,
            "remote": self._remote(),
        }

    def _remote(self) -> list[list[Json]]:
        """Return the history of the calls on a cluster."""
        return [row for log in self._job.logs() for row in getattr(log, "remote", ())]

    def _workers(self) -> list[str]:
        """Return the name of each thread. Events contain the thread's index in this list.

        When a thread exits, a new thread may get its index.
        """
        known: Sequence[str] = next((log.workers for log in self._job.logs()), self._names)
        self._names = [
            self._names[at] if at in self._heard else name for at, name in enumerate(known)
        ]
        return self._names

    def _counts(self, *, all_of_them: bool) -> dict[int, int]:
        """Return how often values were computed.

        If events are missing, the result has all values. Otherwise, the result has only values that
        were computed repeatedly.
        """
        made = {n: each for log in self._job.logs() for n, each in log.counts().items()}
        rows = [row for one in self.snapshot.sections for row in one.rows if row.count > 1]
        counts = {row.number: row.count for row in rows if row.number is not None}
        return made | counts if all_of_them else counts

    def _unlogged(self) -> dict[int, str]:
        """Return the states of operations without events.

        An operation may have a different state in each of several runs. In that case, the result
        has the state that comes last in `CERTAIN`.
        """
        found: dict[int, str] = {}
        for log in self._job.logs():
            for number, state in log.unlogged().items():
                found[number] = max(found.get(number, CERTAIN[0]), state, key=CERTAIN.index)
        return found

    def _events(self, first: int, most: int | None = None) -> Document:
        """Return the retained events from number `first` onward, sorted by time.

        If `most` is given, leave out the events numbered `most` and above.
        """
        rows = self._kept.since(first)
        if most is not None:
            rows = {name: items[: most - first] for name, items in rows.items()}
        return {"kinds": KINDS, **by_time(rows)}

    def _take(self) -> None:
        """Record the changes of the job."""
        for place, log in enumerate(self._job.logs()):
            if place == len(self._taken):
                self._taken.append(0)
                # Each function numbers its instances from the start, so move them past the earlier
                # ones.
                self._instances = max(self._kept.first["instance"], default=0)
            self._take_events(log)
            offset = 0 if log.start is None or self._start is None else log.start - self._start
            for time, operation, text in log.log[self._taken[place] :]:
                kept = visible(text[: max(0, LOG_LIMIT - self._size)])
                self._size += len(text)
                if kept:
                    self._log.append([time + offset, operation, kept])
            self._taken[place] = len(log.log)
            self._previews |= log.previews
            self._pictures |= log.pictures

    def _take_events(self, log: RunDocument) -> None:
        new = log.drain()
        if not new["time"] or log.start is None:
            return
        if self._start is None:
            self._start = log.start
        offset, base = log.start - self._start, self._instances
        if offset or base:
            new["time"] = [time + offset for time in new["time"]]
            new["instance"] = [instance + base for instance in new["instance"]]
        self._kept.extend(new)
        self._workers()
        # The names were updated first, because those of these threads do not change from now on.
        self._heard |= {number for number in set(new["worker"]) if number < len(self._names)}


def _still(snapshot: Snapshot) -> tuple[object, ...]:
    """Return the parts of a snapshot whose changes are worth a message.

    The elapsed time is left out, because it always changes.
    """
    return (snapshot.status, snapshot.note, snapshot.sections, snapshot.log, snapshot.log_dropped)


# The maximum length, in characters, of JSON that is not deflated.
SMALL = 6_000

_Row = Mapping[str, Any]


class Writer:
    """Writes files that start with the same data, which is encoded and deflated only once.

    Only one thread at a time may use a writer.
    """

    def __init__(self, beginning: _Row) -> None:
        """`beginning` is the part of the body that all files share."""
        self._first = _json(compact(beginning))[:-1]

    def written(self, rest: _Row) -> dict[str, Any]:
        """Return the body for a file: its JSON as `body`, or deflated and in base64 as `packed`."""
        last = (b"," if rest and len(self._first) > 1 else b"") + _json(compact(rest))[1:]
        if len(self._first) + len(last) <= SMALL:
            return {"body": (self._first + last).decode()}
        compressor, deflated = self._deflated
        compressor = compressor.copy()
        packed = b"".join((deflated, compressor.compress(last), compressor.flush()))
        return {"packed": base64.b64encode(packed).decode()}

    @cached_property
    def _deflated(self) -> tuple[Any, bytes]:
        compressor = zlib.compressobj(4)
        return compressor, compressor.compress(self._first)


def compact(body: _Row) -> dict[str, Any]:
    """Return `body` with the rows of its program, layout, and events as columns."""
    found = dict(body)
    if program := body.get("program"):
        lines = body.get("source", "").split("\n")
        tables = {name: _table(program[name], lines) for name in ("operations", "values")}
        found["program"] = {**program, **tables}
    for name in ("layout", "events"):
        if lists := body.get(name):
            found[name] = {key: column(items) for key, items in lists.items()}
    return found


def column(items: Sequence[Any]) -> Any:
    """Shorten a list of equal items to one item, and a list of numbers to their differences.

    Small integer differences become pairs of bytes in base64. This takes a fifth of the time that
    text would.
    """
    if len(items) < 2:
        return items
    # Compare the types, too, because `count` uses ==, and 1, 1.0, and True are equal.
    kinds = set(map(type, items))
    if len(kinds) == 1 and items.count(items[0]) == len(items):
        return {"same": items[0], "count": len(items)}
    if kinds <= {int, float}:
        steps = [items[0], *map(sub, items[1:], items)]
        if float not in kinds:
            with suppress(OverflowError):
                return {"steps": base64.b64encode(array("h", steps)).decode()}
            return {"steps": steps}
        # Differences between fractions need not be exact.
        if list(accumulate(steps)) == items:
            return {"steps": [int(step) if step == int(step) else step for step in steps]}
    return items


def _table(rows: Sequence[_Row], lines: Sequence[str]) -> dict[str, Any]:
    """Convert rows whose `id` is their position to columns.

    For a field that some rows lack, the column also lists the positions of the rows that have it. A
    row's text is omitted if it equals the text in `lines`, the program's source, at the row's
    location.
    """
    columns = {}
    # Most rows have the same fields, so visit each combination of fields only once.
    for name in dict.fromkeys(name for keys in {tuple(row) for row in rows} for name in keys):
        at = [place for place, row in enumerate(rows) if name in row]
        if name == "text":
            at = [place for place in at if not _is_in(rows[place], lines)]
        items = column([rows[place][name] for place in at])
        columns[name] = items if len(at) == len(rows) else {"places": column(at), "items": items}
    columns.pop("id", None)
    return {"count": len(rows), "columns": columns}


def _is_in(row: _Row, lines: Sequence[str]) -> bool:
    line = lines[row["line"] - 1] if 0 < row["line"] == row["end_line"] <= len(lines) else ""
    # Pages count non-ASCII characters differently.
    return line.isascii() and line[row["column"] - 1 : row["end_column"] - 1] == row["text"]


def _json(body: _Row) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
