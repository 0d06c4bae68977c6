"""A run as a document: its program, its events in columns, its values, and its output.

`RunDocument.drain` returns the new events. It may be called repeatedly, during and after the run.
`seen` and `running` have the states of values and operations, and `data` is the whole document so
far. Ids come from the program document.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from operator import itemgetter
from typing import Any

from tfrt_nb.documents.blocks import MORE, Reached
from tfrt_nb.documents.code import CodeMap
from tfrt_nb.documents.escapes import label
from tfrt_nb.documents.events import (
    BEGINS,
    CALL,
    NUMBER,
    Columns,
    Event,
    FirstAndNewest,
    Fold,
    Seen,
    among,
    columns_of,
    rows_of,
)
from tfrt_nb.documents.heat_map import HeatMap, heat_map
from tfrt_nb.documents.previews import preview_of, word_text
from tfrt_nb.documents.program import KernelMap, ProgramDocument, is_of_code
from tfrt_nb.programs import Program
from tfrt_runtime.bef.records import collector_paused
from tfrt_runtime.diagnostics import Ending, Location
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.tracing.events import KINDS, LogColumns, logged, no_calls
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.values.held_value import State

MAX_EVENTS = 100_000
"""How many of a run's first events are kept, and how many of its newest events."""
MAX_PICTURES = 50
_OF_THREADS = among("steal", "park", "wake")


class RunDocument:
    """The document of a run that was started with `watch=True`. Any thread may use it."""

    def __init__(
        self,
        program: Program,
        run: Execution,
        document: ProgramDocument | None = None,
        arguments: Sequence[object] = (),
        running: Sequence[int] | None = None,
    ) -> None:
        """Create the document. `document` is the program's document, if it already exists.

        `arguments` are the arguments of the run. If the run started before its watch, `running`
        contains the kernels that were running when the watch started. Otherwise, it is None.
        Earlier values have no events, so the document infers them from their users.

        Raises:
            ValueError: if the run is not watched.
        """
        if run.watch is None:
            raise ValueError("the run is not watched: start it with watch=True")
        self.program = ProgramDocument(program) if document is None else document
        self.run = run
        self.source = program.name
        self.function = run.function.name
        self.log: list[tuple[int, int | None, str]] = []
        """The output: the time, the operation, and the text."""
        self._watch = run.watch
        self._map: KernelMap | CodeMap
        code = program._compiled
        is_code = code is not None and self.function in code.functions
        self._code = None if code is None else CodeMap(run, self.program, of_host=not is_code)
        """The map for compiled code's events, or None. `_map` is for others."""
        if is_code and self._code is not None:
            self._map = self._code
        else:
            self._map = KernelMap(program, run, self.program)
        self._reached = Reached(self.program) if self.program.code else None
        self._unlogged: tuple[int, dict[int, str]] = 0, {}
        self._lock = threading.RLock()
        self.start: int | None = None
        """The time of the first event (monotonic nanoseconds). Others are relative to it."""
        self._kept = FirstAndNewest(MAX_EVENTS)
        self._handed = 0
        self._operations = self.program.data["operations"]
        rows = self.program.data["functions"]
        fold = self._fold = Fold(self._operations, rows)
        self.seen, self.running, self.previews = fold.seen, fold.running, fold.previews
        self.pictures: dict[int, HeatMap] = {}
        """Heat maps of the first tensors with previews, by value id."""
        own = (row["arguments"] for row in rows if row["name"] == label(self.function))
        given = dict(zip(next(own, ()), arguments, strict=False))
        self.boxes = {n: value for n, value in given.items() if isinstance(value, AsyncValue)}
        """The arguments of the run that may arrive late, by id."""
        self._futures = {n: value for n, value in given.items() if isinstance(value, Future)}
        self.remote: list[list[Any]] = []
        """The operation of each call on a cluster, and the call's known moments."""
        self._boxed: set[int] = set()
        """The values that are errors or are not numbers."""
        self._own = -1
        """The function's row if the run started before its watch, and -1 otherwise."""
        if running is not None:
            self.start = run.started_at
            self._take(self._already(running))

    @property
    def dropped(self) -> int:
        """The number of missing events.

        These events were overwritten before they were read, or were dropped from the middle.
        """
        return self._watch.dropped + self._kept.dropped

    @property
    def absent(self) -> list[int]:
        """The ids of the run's arguments that have not arrived yet."""
        boxes = [number for number, value in self.boxes.items() if not value.done()]
        return boxes + [number for number, value in self._futures.items() if not value.done()]

    @property
    def status(self) -> str:
        """`running`, `done`, `failed`, `cancelled` or `timed-out`."""
        return status_of(self.run)

    @property
    def workers(self) -> list[str]:
        """The names of the threads, by their numbers in events."""
        assert self._watch.queue is not None
        return self._watch.queue.labels

    @collector_paused()  # a busy run has a hundred thousand events, which are tuples
    def update(self) -> None:
        """Process new events in O(new events); update `seen`, `running`, `previews`, and `log`."""
        with self._lock:
            # Read this first: if the run is over, the events that are read below are complete.
            is_over = self.run.is_done
            new = self._watch.take(self.start or 0)
            # Other threads append meanwhile, so remove only what was read.
            printed = self._watch.log[:]
            del self._watch.log[: len(printed)]
            if self.start is None and (start := self._begin(new)) is not None:
                self.start, new = start, ([time - start for time in new[0]], *new[1:])
            if self.start is not None:
                rows = self._new(new, is_over=is_over)
                if self._own >= 0:
                    self._take(self._with_missed(rows_of(rows), is_over))
                else:
                    self._kept.extend(rows)
                    self._fold.take(rows_of(rows))
                self.previews.update({} if self._code is None else self._code.texts)
                self._count_overwritten()
            if is_over:
                self._fold.finish()
                told, self._watch.remote = self._watch.remote(waits=True), no_calls
            else:
                told = self._watch.remote()
            start = self.start or (printed[0][0] if printed else 0)
            self.remote = [
                [self._map.operation(kernel), [[at - start, *rest] for at, *rest in moments]]
                for kernel, moments in told
            ] or self.remote  # after the run, `no_calls` returns nothing
            self.log += [
                (max(0, time - start), self._map.operation(kernel), text)
                for time, kernel, text in printed
            ]

    def drain(self) -> Columns:
        """Return the events since the last call, in O(new events)."""
        with self._lock:
            self.update()
            first, self._handed = self._handed, self._kept.total
            return self._kept.since(first)

    @property
    def columns(self) -> Columns:
        """The kept events so far: the first and the newest ones."""
        with self._lock:
            self.update()
            return self._kept.since()

    def operation_of_task(self, frame: int) -> int:
        """Return the operation of a task of compiled code, or -1 if it is unknown."""
        self.update()
        return -1 if self._code is None else self._code.operation_of_task(frame)

    def states(self) -> dict[int, tuple[str, int | None]]:
        """Return, by value id, the state and worker of each value; see `Fold.states`."""
        with self._lock:
            return self._fold.states()

    def unlogged(self) -> dict[int, str]:
        """Return the states of compiled operations without events, after the run.

        `available`: it ran. `error`: it failed. `unrecorded`: it may have run. `more`: it has
        events, and may have run more often. All other operations did not run.
        """
        with self._lock:
            if not self.run.is_done:
                return {}
            self.update()
            total = self._kept.total
            # Without events, the total equals the initial one, although nothing has been computed.
            if self._unlogged[0] != total or not total:
                self._unlogged = total, self._states_of_code()
            return self._unlogged[1]

    def _states_of_code(self) -> dict[int, str]:
        if self._reached is None:
            return {}
        places = self.program.places
        failures = [*self.run.request.diagnostics, *self.run.request.failures]
        where = [one.location for one in failures if isinstance(one.location, Location)]
        found = {places.get((one.source, one.line, one.column), -1) for one in where} - {-1}
        code = self._code
        made = {number for number, one in self.seen.items() if one.state == "available"}
        # If a `tfrt.jit` has no results, no event shows that its region ran to completion.
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
        """Return how many times each value became available, by id."""
        with self._lock:
            return {n: one.count for n, one in self.seen.items() if one.state == "available"}

    def preview(self) -> dict[int, str]:
        """Return new previews by value id: values other than numbers, and messages of errors.

        A slow object takes up to a quarter of a second, so the thread that drains events must not
        call this method.
        """
        new = {}
        for function, register, value in self._watch.kept_values():
            number = self._map.value(function, register)
            if number >= 0:
                new[number] = preview_of(value)
                self._take_picture(number, value)
        with self._lock:
            self.previews.update(new)
            self._boxed |= new.keys()
            self.previews.update(self._fold.failures)
        return new

    def _take_picture(self, number: int, value: AsyncValue) -> None:
        if number not in self.pictures and len(self.pictures) >= MAX_PICTURES:
            return
        with suppress(Exception):  # a user's object may raise anything
            if value.exception(0) is None and (picture := heat_map(value.payload())):
                self.pictures[number] = picture

    @property
    def data(self) -> dict[str, Any]:
        """Return the whole document, ready for JSON."""
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

    def _begin(self, new: LogColumns) -> int | None:
        """Return the start of the run, or None if it is not known yet.

        Threads may log sleeps and wake-ups before the start.
        """
        events = zip(new[0], new[3], strict=True)
        first = next((time for time, what in events if what & 63 not in _OF_THREADS), None)
        return first if first is None or not self._watch.lost else min(first, self.run.started_at)

    def _new(self, new: LogColumns, *, is_over: bool) -> Columns:
        """Return the rows of new events. With `is_over`, no more events will follow."""
        # Leave out the sleeps and wake-ups before the run's start; see `_begin`.
        if min(new[0], default=0) < 0:
            late = [at for at, time in enumerate(new[0]) if time >= 0]
            new = tuple([column[at] for at in late] for column in new)
        code, host = self._code, self._map
        found = columns_of(()) if isinstance(host, CodeMap) else host.columns(new)
        if code is None and self._reached is None:
            return found
        rows = list(rows_of(found))
        for event in logged(new):
            if self._reached is not None:
                self._reached.note(event)
            if code is not None and (host is code or is_of_code(event[2], event[4])):
                rows += code.rows(event)
        rows.sort(key=itemgetter(0))
        return columns_of([*rows, *code.ending()] if code is not None and is_over else rows)

    def _take(self, rows: Iterable[Event]) -> None:
        """Keep the rows, and update the states.

        Each row is created after the earlier rows have updated the states.
        """
        kept = list[Event]()
        for row in rows:
            self._fold.take((row,))
            kept.append(row)
        self._kept.extend(columns_of(kept))

    def _already(self, running: Sequence[int]) -> Iterator[Event]:
        """Yield rows for the state in which the watch starts.

        That state consists of constants, available arguments, and running kernels.
        """
        assert isinstance(self._map, KernelMap)
        index = self.run._entry.index
        self._own = self._map.function_row(index)
        yield 0, CALL, -1, self._own, 0, -1, None
        yield from self._map.constants_of(index, 0, 0, -1)
        for value in self.program.data["functions"][self._own]["arguments"]:
            if value not in self.absent:
                yield 0, NUMBER["available"], -1, value, 0, -1, None
        begun = {self._map.operation(kernel) for kernel in running}
        for note in self.run.waiting_for():
            place = getattr(note.location, "line", 0), getattr(note.location, "column", 0)
            at = (row for row in self._operations if (row["line"], row["column"]) == place)
            # Several operations may share a location, but the note also names the kernel.
            begun |= {row["id"] for row in at if f"'{row['kernel']}'" in note.message}
        for op in sorted(op for op in begun if op is not None):
            yield from self._with_operands((0, NUMBER["begin"], op, -1, 0, -1, None))

    def _with_operands(self, row: Event) -> Iterator[Event]:
        """Yield a row, preceded by rows for operands that have no events."""
        values = self.program.data["values"]
        if row[1] in BEGINS and row[2] >= 0:
            for value in self._operations[row[2]]["operands"]:
                if value not in self.seen and values[value]["op"] is not None:
                    yield row[0], NUMBER["available"], values[value]["op"], value, 0, -1, None
        yield row

    def _with_missed(self, rows: Iterable[Event], is_over: bool) -> Iterator[Event]:
        """Yield the rows, plus rows for values that were computed before the watch started."""
        last = 0
        for row in rows:
            last = row[0]
            yield from self._with_operands(row)
        if is_over and self.status == "done":
            own = self.program.data["functions"][self._own]
            returned = dict(zip(own["results"], self.run.results, strict=False))
            for made in self._operations:
                if made["function"] == self._own and made["parent"] is None:
                    for value in made["results"]:
                        if value not in self.seen:
                            text = preview_of(returned[value]) if value in returned else None
                            yield last, NUMBER["available"], made["id"], value, 0, -1, text

    def _count_overwritten(self) -> None:
        """Count values whose events were overwritten before they were read."""
        if self._watch.lost == 0:
            return
        functions = self.run.program.functions
        for function, register, count, word in self._watch.counts():
            number = self._map.value(function, register)
            # A region's argument may be an outer value, which is computed outside the region.
            if number >= 0 and register >= len(functions[function].argument_types):
                one = self.seen.setdefault(number, Seen("available", None, None, None))
                one.count = max(one.count, count)
                text = word_text(self.program.data["values"][number]["type"], word)
                if text is not None and number not in self._boxed:
                    self.previews[number] = text


def status_of(run: Execution) -> str:
    """Return the state of a run as one word."""
    if not run.is_done:
        return "running"
    cancellation = run.request.cancellation
    if cancellation is not None:
        return "timed-out" if cancellation.ending is Ending.TIMED_OUT else "cancelled"
    failed = run.diagnostics or any(value.state is State.ERROR for value in run.results)
    return "failed" if failed else "done"
