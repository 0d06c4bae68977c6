"""A run as a document: its program, its events in columns, its values, what it printed.

`RunDocument.drain` gives what is new, as often as one likes, while the run goes on and after it; `seen` and
`running` say where values and operations stand; `data` is the whole document so far.  Ids are those of the program document.
"""

from __future__ import annotations

import bisect
import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrt_nb.documents.code import MORE, CodeMap, Event, Reached
from tfrt_nb.documents.previews import label, payload_text, preview_of, texts, view_of
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.programs import Program
from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.diagnostics import Ending, Location
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.tracing.events import KINDS, NO_VALUE
from tfrt_runtime.host.values.async_value import AsyncValue, State
from tfrt_runtime.native.layouts import TYPE_F64

COLUMNS = ("time", "kind", "op", "value", "instance", "worker", "payload")
MAX_EVENTS = 100_000
"""So many first events of a run are kept, and as many of the newest."""

Columns = dict[str, list[Any]]
_NUMBER = {name: number for number, name in enumerate(KINDS)}
SKIPPED = _NUMBER["skipped"]
_STATES = {_NUMBER[kind]: kind for kind in ("available", "error", "skipped", "cancelled")}


def _among(*kinds: str) -> npt.NDArray[np.bool_]:
    """For the number of a kind whether it is one of these: as an index ten times as fast as `isin`."""
    return np.array([kind in kinds for kind in KINDS])


_OF_VALUES = _among(*_STATES.values())
_BEGINS, _ENDS = _among("begin", "resume"), _among("end", "suspend") | _OF_VALUES
_OF_KERNELS = _OF_VALUES | _among("enqueue", "begin", "end")
_OF_THREADS = _among("steal", "park", "wake")
_OF_CODE = _among(
    *("create", "enqueue", "start", "suspend", "resume", "emplace", "fail", "enter", "leave")
)
"""Kinds of events that carry an address; those of kernels do not."""


@dataclass(slots=True)
class Seen:
    """What became of a value when it was made last.  Times are nanoseconds since the first event."""

    state: str
    """`available`, `error`, `skipped` or `cancelled`."""
    worker: int | None
    started: int | None
    resolved: int | None
    """None, as the worker, of a value whose events were overwritten before they were read."""
    count: int = 1
    """How often it was made."""
    failed: int = 0
    """How often it was an error.  One that was made several times is then an error, whatever came last."""


class RunDocument:
    """The document of a run that was started with `watch=True`.  Any thread may use it."""

    def __init__(
        self,
        program: Program,
        run: Execution,
        document: ProgramDocument | None = None,
        arguments: Sequence[object] = (),
    ) -> None:
        """`document` is that of the program, if there is one already; `arguments` are those of the run.

        Raises:
            ValueError: if the run is not watched.
        """
        if run.watch is None:
            raise ValueError("the run is not watched: start it with watch=True")
        self.program = ProgramDocument(program) if document is None else document
        self.run = run
        self.source = program.name
        self.function = run.function.name
        self.previews: dict[int, str] = {}
        """The latest text of each value that has one, by id."""
        self.log: list[tuple[int, int | None, str]] = []
        """What was printed: when, by which operation, the text."""
        self.seen: dict[int, Seen] = {}
        """What became of the values that were made, by id."""
        self.running: dict[int, tuple[int, int]] = {}
        """The operations that run: since when, and on which worker; -1 once their kernels have returned and
        their results come from elsewhere."""
        self._watch = run.watch
        self._map: _Map | CodeMap
        code = program._compiled
        is_code = code is not None and self.function in code.functions
        self._code = None if code is None else CodeMap(run, self.program, of_host=not is_code)
        """What compiled code logs, if there is any; `_map` for all other events."""
        if is_code and self._code is not None:
            self._map = self._code
        else:
            self._map = _Map(program, run, self.program)
        self._is_code = isinstance(self._map, CodeMap)
        self._reached = Reached(self.program)
        self._unlogged: tuple[int, dict[int, str]] = 0, {}
        self._lock = threading.RLock()
        self._start: int | None = None
        self._chunks: list[tuple[int, Columns]] = []
        """The number of the first event of each, in order; only the newest are ever dropped."""
        self._total = self._handed = self._cut = 0
        self._operations = self.program.data["operations"]
        rows = self.program.data["functions"]
        own = (row["arguments"] for row in rows if row["name"] == label(self.function))
        given = dict(zip(next(own, ()), arguments, strict=False))
        self.boxes = {n: value for n, value in given.items() if isinstance(value, AsyncValue)}
        """The arguments of the run that may come late, by id."""
        self._futures = {n: value for n, value in given.items() if isinstance(value, Future)}
        self._failed: set[int] = set()
        self._boxed: set[int] = set()
        """The values that were more than a number, or errors."""

    @property
    def dropped(self) -> int:
        """Events that are not in the document: overwritten before they were read, or in its middle."""
        return self._watch.dropped + self._cut

    @property
    def absent(self) -> list[int]:
        """The arguments of the run that have not come yet, by id."""
        boxes = [number for number, value in self.boxes.items() if not value.done()]
        return boxes + [number for number, value in self._futures.items() if not value.done()]

    @property
    def start(self) -> int | None:
        """When the first event was, in nanoseconds of the monotonic clock; times count from there."""
        return self._start

    @property
    def status(self) -> str:
        """`running`, `done`, `failed`, `cancelled` or `timed-out`."""
        return status_of(self.run)

    @property
    def workers(self) -> list[str]:
        """The names of the threads, by the numbers that events have."""
        assert self._watch.queue is not None
        return self._watch.queue.labels

    def update(self) -> None:
        """Take what is new: `seen`, `running`, `previews` and `log` are up to date then.  O(new events)."""
        with self._lock:
            is_over = self.run.is_done
            events = self._of_run(self._watch.take())
            self._reached.note(events)
            printed, self._watch.log = self._watch.log, []
            if self._start is not None:
                new: Columns = {name: [] for name in COLUMNS}
                if isinstance(self._map, CodeMap):
                    new = _columns_of(self._map.rows(events, self._start, is_over))
                    self.previews |= self._map.texts
                elif len(events):
                    is_of_code = _OF_CODE[events["kind"]] & (events["value"] != NO_VALUE)
                    new = self._map.columns(events[~is_of_code], self._start)
                    if self._code is not None and is_of_code.any():
                        rows = self._code.rows(events[is_of_code], self._start, is_over)
                        new = _by_time(_joined([new, _columns_of(rows)]))
                self._note(new)
                self._keep(new)
                self._count_overwritten()
            if is_over:  # what an event of is missing has ended, too
                self.running.clear()
            start = self._start or (printed[0][0] if printed else 0)
            for time, kernel, text in printed:
                self.log.append((max(0, time - start), self._map.operation(kernel), text))

    def drain(self) -> Columns:
        """The events since the last time, in columns; O(new events)."""
        with self._lock:
            self.update()
            first = bisect.bisect_left(self._chunks, self._handed, key=_start_of)
            self._handed = self._total
            return _joined([columns for _, columns in self._chunks[first:]])

    @property
    def columns(self) -> Columns:
        """The events so far, in columns: the first ones, and the newest."""
        with self._lock:
            self.update()
            return _joined([columns for _, columns in self._chunks])

    def operation_of_task(self, frame: int) -> int:
        """The operation of a task of compiled code; -1 if that is not known."""
        self.update()
        return -1 if self._code is None else self._code.operation_of_task(frame)

    def states(self) -> dict[int, tuple[str, int | None]]:
        """Where the values stand that are made or were made, by id: `running` or as `Seen` says, the worker."""
        with self._lock:
            found: dict[int, tuple[str, int | None]] = {
                number: (one.state, one.worker) for number, one in self.seen.items()
            }
            for operation, (_, worker) in self.running.items():
                for number in self._operations[operation]["results"]:
                    found[number] = "running", worker
            return found

    def unlogged(self) -> dict[int, str]:
        """Of a run that is over, what is known of operations of compiled functions without their events.

        `available`: it ran; `error`: it failed; `unrecorded`: it may have run; `more`: it has events, and may have run
        more often.  Others did not run.
        """
        with self._lock:
            if not self.run.is_done:
                return {}
            self.update()
            if self._unlogged[0] != self._total or not self._total:
                self._unlogged = self._total, self._states_of_code()
            return self._unlogged[1]

    def _states_of_code(self) -> dict[int, str]:
        places = self.program.places
        failures = [*self.run.diagnostics, *self.run.request.failures]
        where = [one.location for one in failures if isinstance(one.location, Location)]
        found = {places.get((one.source, one.line, one.column), -1) for one in where} - {-1}
        code = self._code
        made = {number for number, one in self.seen.items() if one.state == "available"}
        complete = {
            row["parent"]
            for row in self._operations
            if "compiled" in row and made >= {*self._operations[row["parent"]]["results"]} > set()
        }
        states = self._reached.states(
            None if code is None else code.logged,
            found if code is None else found | code.failed,
            is_clean=not failures and self.status == "done",
            is_whole=self._watch.dropped == 0,
            complete=complete,
        )
        return states | dict.fromkeys(() if code is None else code.more, MORE)

    def counts(self) -> dict[int, int]:
        """How often each value became available, by id."""
        with self._lock:
            return {n: one.count for n, one in self.seen.items() if one.state == "available"}

    def preview(self) -> dict[int, str]:
        """New texts of values that are more than a number, of errors their messages, by value id.

        Slow objects take a quarter of a second each: not for the thread that drains.
        """
        new = {}
        for function, register, value in self._watch.kept_values():
            number = self._map.value(function, register)
            if number >= 0:
                new[number] = preview_of(value)
        with self._lock:
            self.previews |= new
            self._boxed |= new.keys()
            self._say_how_many_failed()
        return new

    @property
    def data(self) -> dict[str, Any]:
        """The whole document, which goes through JSON."""
        events: dict[str, Any] = {**self.columns, "kinds": list(KINDS)}
        self.preview()
        return {
            "program": self.program.data,
            "function": self.function,
            "status": self.status,
            "events": events,
            "workers": self.workers,
            "dropped": self.dropped,
            "previews": {str(number): text for number, text in self.previews.items()},
            "log": [list(line) for line in self.log],
            "unlogged": {str(number): state for number, state in self.unlogged().items()},
        }

    def _of_run(self, events: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        """The events from the first one of the run on: threads slept and woke before."""
        if self._start is None:
            own = np.flatnonzero(~_OF_THREADS[events["kind"]])
            if not len(own):
                return events[:0]
            first = int(events["time"][own[0]])
            self._start = min(first, self.run.started_at) if self._watch.lost else first
        return events[events["time"] >= self._start]

    def _note(self, new: Columns) -> None:
        """What becomes of values and operations: only the last event of each counts, but for numbers."""
        kind, op, value = (np.array(new[name], np.int64) for name in ("kind", "op", "value"))
        is_made = _OF_VALUES[kind] & (value >= 0)
        begins = np.flatnonzero(_BEGINS[kind] & (op >= 0))
        ends = np.flatnonzero(_ENDS[kind] & (op >= 0) & ~is_made)
        begun_before, ended_before = _Latest(op, begins), _Latest(op, ends)
        made = np.flatnonzero(is_made)
        makers, values, times, workers = (new[name] for name in ("op", "value", "time", "worker"))
        for at, last, count in _last_of_each(value[made], made):
            maker, resolved, here = makers[last], times[last], workers[last]
            started, by = self.running.get(maker, (resolved, here))
            if (begun := begun_before(maker, last)) > at:
                started, by = times[begun], workers[begun]
            elif at >= 0:
                started, by = resolved, here
            is_late = by < 0 or ended_before(maker, last) > begun
            found = self.seen.get(values[last])
            if found is None:
                found = self.seen[values[last]] = Seen("", None, None, None, 0)
            found.state = _STATES[new["kind"][last]]
            found.worker = here if is_late else by
            found.started, found.resolved = started, resolved
            found.count += count
            if isinstance(text := new["payload"][last], str):
                self.previews[values[last]] = text
        failed = value[made[kind[made] == _NUMBER["error"]]]
        for number, times_failed in zip(*np.unique(failed, return_counts=True), strict=True):
            self.seen[int(number)].failed += int(times_failed)
            self._failed.add(int(number))
        self._say_how_many_failed()
        events = np.sort(np.concatenate([begins, ends, made[op[made] >= 0]]))
        for at, last, _ in _last_of_each(op[events], events):
            self._note_operation(makers[last], new, last, at)

    def _say_how_many_failed(self) -> None:
        """Let values that were made several times, as those of mapped calls, say how many are errors."""
        for number in self._failed:
            found = self.seen[number]
            if found.count > 1:
                found.state = "error"
                self.previews[number] = f"{found.failed} of {found.count} failed"

    def _note_operation(self, op: int, new: Columns, last: int, before: int) -> None:
        """What becomes of an operation by its last event, and the one before it (-1 for none)."""
        since, _ = self.running.pop(op, (None, -1))
        kind, time = new["kind"], new["time"]
        if _BEGINS[kind[last]]:
            self.running[op] = time[last], new["worker"][last]
        elif kind[last] == _NUMBER["end"] and self._operations[op]["results"] and not self._is_code:
            if before >= 0:
                since = time[before] if _BEGINS[kind[before]] else None
            if since is not None:
                self.running[op] = since, -1

    def _count_overwritten(self) -> None:
        """Count what was made by events that were overwritten before they were read."""
        if self._watch.lost == 0:
            return
        functions = self.run.program.functions
        for function, register, count, word in self._watch.counts():
            number = self._map.value(function, register)
            # What a region takes may be a value from around it, which is made there.
            if number >= 0 and register >= len(functions[function].argument_types):
                one = self.seen.setdefault(number, Seen("available", None, None, None))
                one.count = max(one.count, count)
                text = payload_text(self.program.data["values"][number]["type"], word)
                if text is not None and number not in self._boxed:
                    self.previews[number] = text

    def _keep(self, new: Columns) -> None:
        room = MAX_EVENTS - self._total
        if 0 < room < len(new["time"]):
            self._keep({name: column[:room] for name, column in new.items()})
            new = {name: column[room:] for name, column in new.items()}
        if new["time"]:
            self._chunks.append((self._total, new))
            self._total += len(new["time"])
        first = bisect.bisect_left(self._chunks, MAX_EVENTS, key=_start_of)
        while first + 1 < len(self._chunks):
            start, after = self._chunks[first][0], self._chunks[first + 1][0]
            if self._total - after < MAX_EVENTS:
                break
            del self._chunks[first]
            self._cut += after - start


class _Latest:
    """The last of some events of an operation before another event."""

    def __init__(self, op: npt.NDArray[np.int64], events: npt.NDArray[np.int64]) -> None:
        self._stride = len(op) + 1
        # A list: to search an array for one key takes ten times as long.
        self._keys = np.sort(op[events] * self._stride + events).tolist()

    def __call__(self, op: int, event: int) -> int:
        """Its number; -1 if there is none."""
        place = bisect.bisect_left(self._keys, op * self._stride + event) - 1
        found, number = divmod(self._keys[place], self._stride) if place >= 0 else (-1, -1)
        return number if found == op else -1


def _last_of_each(
    keys: npt.NDArray[np.int64], events: npt.NDArray[np.int64]
) -> Iterator[tuple[int, int, int]]:
    """Of the events with each key: the last but one (-1 for none), the last, and how many; `events` rise."""
    order = np.argsort(keys, kind="stable")
    found, sorted_events = keys[order], events[order].tolist()
    lasts = np.flatnonzero(np.append(found[1:] != found[:-1], True)) if len(found) else order
    first = 0
    for last in lasts.tolist():
        before = sorted_events[last - 1] if last > first else -1
        yield before, sorted_events[last], last - first + 1
        first = last + 1


def _start_of(chunk: tuple[int, Columns]) -> int:
    return chunk[0]


def _columns_of(rows: Iterable[Event]) -> Columns:
    listed = list(rows)
    return {name: [row[i] for row in listed] for i, name in enumerate(COLUMNS)}


def _by_time(columns: Columns) -> Columns:
    order = np.argsort(np.array(columns["time"], np.int64), kind="stable").tolist()
    return {name: [column[i] for i in order] for name, column in columns.items()}


def _joined(parts: Sequence[Columns]) -> Columns:
    if len(parts) == 1:
        return parts[0]
    return {name: [x for part in parts for x in part[name]] for name in COLUMNS}


def status_of(run: Execution) -> str:
    """Where a run stands, in one word."""
    if not run.is_done:
        return "running"
    cancellation = run.request.cancellation
    if cancellation is not None:
        timed_out = cancellation.ending is Ending.TIMED_OUT
        return "timed-out" if timed_out else "cancelled"
    failed = run.diagnostics or any(value.state is State.ERROR for value in run.results)
    return "failed" if failed else "done"


class _Map:
    """From numbers of the native core to ids of the program document."""

    def __init__(self, program: Program, run: Execution, document: ProgramDocument) -> None:
        self._values = document.data["values"]
        loaded = run.program.functions
        # Native functions have a body where they are loaded: a kernel, behind those of the file, and registers.
        bodies = sum(len(function.kernels) for function in loaded) - len(document.kernels)
        self._kernels = np.array([*document.kernels, *[-1] * bodies, -1], np.int64)
        registers = [
            [*own, *[-1] * (function.register_count - len(own))]
            for own, function in zip(document.registers, loaded, strict=True)
        ]
        self._firsts = np.cumsum([0, *map(len, registers)])
        self._registers = np.array([*itertools.chain(*registers), -1], np.int64)
        makers = [-1 if row["op"] is None else row["op"] for row in self._values]
        self._makers = np.array([*makers, -1], np.int64)
        self._types = [row["type"] for row in self._values]
        self._type_of = np.array([*map(view_of, self._types), -1], np.int64)
        self._functions = [(-1, -1)] * len(program.file.functions)
        self._find_functions(program, document)
        self._constants = run.program.constants
        self._called: set[int] = set()

    def _find_functions(self, program: Program, document: ProgramDocument) -> None:
        """Per function of the file: the operation whose region it is, or -1, and the row it is in."""
        rows = {row["name"]: row["id"] for row in document.data["functions"]}
        operations = document.data["operations"]
        number = 0
        for index, function in enumerate(program.file.functions):
            if function.name and function.kind is not FunctionKind.NATIVE:
                self._functions[index] = (-1, rows.get(label(function.name), -1))
            for kernel in function.kernels:
                operation = document.kernels[number]
                number += 1
                for inner in kernel.functions:
                    if not program.file.functions[inner].name and operation >= 0:
                        row = operations[operation]["function"]
                        self._functions[inner] = (operation, row)

    def operation(self, kernel: int) -> int | None:
        """The operation of a kernel, None for what is none."""
        found = int(self._kernels[kernel]) if 0 <= kernel < len(self._kernels) else -1
        return None if found < 0 else found

    def value(self, function: int, register: int) -> int:
        """The value of a register, -1 for one that the text has not."""
        return int(self._registers[self._firsts[function] + register])

    def columns(self, events: npt.NDArray[np.void], start: int) -> Columns:
        """The columns of some events; `start` is when the run began."""
        kind = events["kind"]
        count = len(events)
        op, value = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
        is_value = _OF_VALUES[kind] & (events["value"] != NO_VALUE)
        is_call = kind == _NUMBER["call"]
        # Of compiled code that a kernel calls, the events have addresses in these places.
        is_kernel = _OF_KERNELS[kind] & (events["value"] == NO_VALUE)
        op[is_kernel] = self._kernels[events["op"][is_kernel]]
        places = self._firsts[events["op"][is_value]] + events["value"][is_value]
        value[is_value] = self._registers[places]
        op[is_value] = self._makers[value[is_value]]
        payloads: list[str | int | None] = [None] * count
        self._read(events, value, kind == _NUMBER["available"], payloads)
        # Last: of a call, the row of its function is in the place of a value.
        for index in np.flatnonzero(is_call):
            op[index], value[index] = self._functions[events["op"][index]]
            payloads[index] = int(events["payload"][index])
        columns: Columns = {
            "time": (events["time"] - start).tolist(),
            "kind": kind.tolist(),
            "op": op.tolist(),
            "value": value.tolist(),
            "instance": events["instance"].tolist(),
            # The event's thread passes an error on; a kernel that is skipped runs on none.
            "worker": np.where(kind == SKIPPED, np.int64(-1), events["worker"]).tolist(),
            "payload": payloads,
        }
        self._add_constants(columns, events, is_call | is_value)
        return columns

    def _read(
        self,
        events: npt.NDArray[np.void],
        values: npt.NDArray[np.int64],
        is_there: npt.NDArray[np.bool_],
        payloads: list[str | int | None],
    ) -> None:
        """The texts of payloads that are one word."""
        views = np.where(is_there, self._type_of[values], -1)
        for number in np.unique(views):
            if number < 0:
                continue
            places = np.flatnonzero(views == number)
            words = np.ascontiguousarray(events["payload"][places])
            for place, text in zip(places.tolist(), texts(int(number), words), strict=True):
                payloads[place] = text

    def _add_constants(
        self, columns: Columns, events: npt.NDArray[np.void], names_function: npt.NDArray[np.bool_]
    ) -> None:
        """Constants are available once their function is called; the core has no event for that.

        The event of a call may be overwritten: the first one of a value in the function says as much.
        """
        called, firsts = np.unique(events["op"][names_function], return_index=True)
        places = np.flatnonzero(names_function)[firsts]
        for index, function in sorted(
            zip(places.tolist(), called.tolist(), strict=True), reverse=True
        ):
            if function in self._called:
                continue
            self._called.add(function)
            rows = list(self._of_constants(function, columns, index))
            for position, name in enumerate(COLUMNS):
                columns[name][index + 1 : index + 1] = [row[position] for row in rows]

    def _of_constants(
        self, function: int, columns: Mapping[str, Sequence[Any]], index: int
    ) -> Iterator[tuple[Any, ...]]:
        for register, constant in self._constants[function].items():
            value = self.value(function, register)
            if value < 0:
                continue
            text, view = None, int(self._type_of[value])
            if constant.payload_type <= TYPE_F64 and view >= 0:
                text = texts(view, np.array([constant.first], np.int64))[0]
            yield (
                columns["time"][index],
                _NUMBER["available"],
                int(self._makers[value]),
                value,
                columns["instance"][index],
                columns["worker"][index],
                text,
            )
