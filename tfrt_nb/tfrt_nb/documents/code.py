"""Convert the events of compiled code to ids of the program document.

The core identifies an object by its address and by the record of the operation that creates it. It
identifies a task by its frame. An operation's objects are created one after another, in the order
of its results. Then the same thread enqueues the operation's task.

An async function starts on its caller's thread when its first object is created. The first frame to
be suspended on that thread belongs to the innermost async function that has started there.

A call logs its start and, unless the function fails, its return. When a call returns, a function
that creates no objects has finished. Any other function may still be running. Only the first calls
of each operation are logged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tfrt_nb.documents.escapes import label
from tfrt_nb.documents.events import NUMBER, Event
from tfrt_nb.documents.previews import payload_text, preview_of
from tfrt_nb.documents.program import ProgramDocument, callee_of
from tfrt_nb.documents.walks import Row
from tfrt_runtime.async_runtime.objects import read_place
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.tracing.events import KINDS, Logged
from tfrt_runtime.host.values.held_value import State

_PRINT = re.compile(r"\bcall @print(?!_?(newline|comma|open|close)\b)", re.IGNORECASE)
_AS = {"start": "begin", "emplace": "available", "fail": "error"}
"""The event kinds that tasks and kernels have in common, mapped to the kernels' names for them."""


@dataclass(slots=True, eq=False)
class _Call:
    """A call that has not returned. `is_part` is true if the async function creates objects."""

    operation: int
    instance: int
    is_part: bool = False


@dataclass(slots=True, eq=False)
class _Part:
    """A part of the run that runs on a thread: a task or an async function.

    `operation` is the operation that started the task or called the function, or -1 if it is
    unknown.
    """

    operation: int
    instance: int
    frame: int = 0
    """The frame, or 0 for an async function that has not been suspended yet."""
    is_called: bool = False
    """Whether the log contains the call, which is also the start of the part."""
    is_closed: bool = False
    """Whether the part ended because the run did. A later log entry for its end is ignored."""
    is_suspended: bool = False
    """Whether the part is suspended, so that its frame is kept."""
    first: int = 0
    """The first object that an async function created."""
    calls: list[_Call] = field(default_factory=list)
    """The unfinished calls of the part, with the innermost call last."""


class CodeMap:
    """Maps one run's addresses to ids. The caller must pass events in order.

    With `of_host`, the run belongs to a host program. This class sees neither the end of that
    program nor the events of its kernels.
    """

    def __init__(self, run: Execution, document: ProgramDocument, *, of_host: bool = False) -> None:
        self._places, self._run = document.places, run
        self._values = document.data["values"]
        self._operations = document.data["operations"]
        self._functions_at = document.functions_at
        self._callees: dict[int, str] = {}
        """The function that each calling operation calls; `_sites` is the reverse."""
        self._sites: dict[str, list[int]] = {}
        self._code = document.code
        for row in map(self._operations.__getitem__, sorted(self._code)):
            if callee := callee_of(row):
                self._callees[row["id"]] = callee
                self._sites.setdefault(callee, []).append(row["id"])
        self._makers: dict[int, tuple[int, Row | None]] = {}
        printers = [row["id"] for row in self._operations if _PRINT.search(row["text"])]
        self._printer = printers[0] if len(printers) == 1 else None
        self._is_made: set[int] = set()
        self._objects: dict[int, tuple[int, int]] = {}
        self._tasks: dict[int, _Part] = {}
        """The tasks, by frame."""
        self._running: dict[int, list[_Part]] = {}
        """The running parts of each thread, with the innermost part last."""
        self._started: dict[int, list[_Part]] = {}
        """The tasks that each thread has started and not returned from, even suspended ones.
        """
        self._functions: dict[int, _Part] = {}
        """The async functions that have started, by their first objects."""
        self._latest: dict[int, tuple[int, int, int]] = {}
        """The latest object of each thread: record, operation, and the ordinal of the object."""
        self._count = 1
        rows = document.data["functions"]
        named = (row for row in rows if row["name"] == label(run.function.name))
        self._function = next(named, None)
        self._main = _Part(-1, 0)
        self.logged: set[int] = set()
        """The operations that have events."""
        self.more: set[int] = set()
        """The operations for which more may have happened than was logged."""
        self._direct: set[int] = set()
        """The calls to functions that created no objects."""
        self.texts: dict[int, str] = {}
        """The texts of values whose events contain no text."""
        self.failed: set[int] = set()
        self._of_host = self._has_begun = of_host
        self._has_ended = False
        self._time = 0
        """The time of the last event."""

    def operation(self, kernel: int) -> int | None:
        """Return the program's printing operation, or None unless exactly one exists.

        Compiled code does not log which operation printed.
        """
        return self._printer

    def operation_of_task(self, frame: int) -> int:
        """Return the operation of the task or async call with this frame, or -1 if unknown."""
        part = self._tasks.get(frame)
        return -1 if part is None else part.operation

    def value(self, function: int, register: int) -> int:
        """Return -1, because compiled code has no registers."""
        return -1

    def rows(self, event: Logged) -> Iterator[Event]:
        """Return the rows of an event, whose time counts from the run's start."""
        self._time, low, high, _, kind, worker, payload = event
        for shown, op, value, instance, text in self._of(
            KINDS[kind], low | high << 32, payload, worker
        ):
            self.logged.add(op)
            yield self._time, NUMBER[shown], op, value, instance, worker, text

    def ending(self) -> Iterator[Event]:
        """Yield the rows for the end of the run. Later calls yield none."""
        if not self._has_ended:
            self._has_ended = True
            yield from self._end_of_tasks(self._time)
            if not self._of_host:
                yield from self._end_of_function(self._time)

    def _of(
        self, kind: str, what: int, payload: int, worker: int
    ) -> Iterator[tuple[str, int, int, int, object]]:
        match kind:
            case "park" | "wake" | "steal":
                yield kind, -1, -1, 0, None
            case "create":
                yield self._create(what, payload, worker)
                if (part := self._functions.get(what)) is not None and not part.is_called:
                    yield "begin", part.operation, -1, part.instance, None
            case "enter":
                yield self._enter(what, payload, worker)
            case "leave":
                yield from self._leave(what, worker)
            case "enqueue":
                self._count += 1
                _, operation, _ = self._latest.get(worker, (0, -1, 0))
                self._tasks[what] = _Part(operation, self._count, what)
                yield kind, operation, -1, self._count, None
            case "emplace" | "fail":
                value, operation = self._objects.pop(what, (-1, -1))
                if value >= 0:  # if not, the compiler created the object for its own use
                    self._is_made.add(value)
                    text = payload_text(self._values[value]["type"], payload)
                    if kind == "fail" and self._run.request.cancellation is None:
                        self.failed.add(operation)
                    yield _AS[kind], operation, value, 0, text if kind == "emplace" else None
                if (part := self._functions.pop(what, None)) is not None:
                    yield from self._fail(part)
                    self._stop(part, worker)
                    # Another task may now reuse the frame.
                    self._tasks.pop(part.frame, None)
                    if not part.is_closed:
                        yield "end", part.operation, -1, part.instance, None
            case "end":
                # Do not use `_tasks` here: another task may have reused the frame, and another
                # thread may have resumed this one.
                started = self._started.get(worker, [])
                part = next((one for one in reversed(started) if one.frame == what), None)
                if part is not None:
                    started.remove(part)
                    if not any(part in one for w, one in self._running.items() if w != worker):
                        yield from self._fail(part)
                        self._stop(part, worker)
                        if not part.is_suspended and self._tasks.get(what) is part:
                            # An async function may now reuse the frame, and logs that only when it
                            # is suspended.
                            del self._tasks[what]
                        if not part.is_closed:
                            yield kind, part.operation, -1, part.instance, None
            case _ if what in self._tasks or (kind == "suspend" and self._suspend(what, worker)):
                part = self._tasks[what]
                self._stop(part, worker)
                is_closed, part.is_closed = part.is_closed, False
                part.is_suspended = kind == "suspend"
                if kind == "suspend" and is_closed:
                    return
                if kind in ("start", "resume"):
                    self._running.setdefault(worker, []).append(part)
                if kind == "start":
                    self._started.setdefault(worker, []).append(part)
                awaited = self._objects.get(payload, (-1, -1))[0] if kind == "suspend" else -1
                yield _AS.get(kind, kind), part.operation, awaited, part.instance, None
            case "call" | "start" if not self._has_begun:
                self._has_begun = True
                yield "call", -1, -1 if self._function is None else self._function["id"], 1, 0
            case "return" if not self._of_host:
                yield kind, -1, -1, 1, None

    def _here(self, worker: int) -> _Part:
        """Return the innermost part that runs on a thread."""
        running = self._running.get(worker)
        return running[-1] if running else self._main

    def _enter(self, record: int, is_last: int, worker: int) -> tuple[str, int, int, int, object]:
        """Record a call. With `is_last`, no further calls of this operation are logged."""
        operation, _ = self._maker_of(record)
        if is_last:
            self.more.add(operation)
        self._count += 1
        self._here(worker).calls.append(_Call(operation, self._count))
        return "begin", operation, -1, self._count, None

    def _leave(self, record: int, worker: int) -> Iterator[tuple[str, int, int, int, object]]:
        """Record that a call has returned.

        The call's results are available unless the function is async.
        """
        operation, _ = self._maker_of(record)
        calls = self._here(worker).calls
        place = next(
            (i for i in range(len(calls) - 1, -1, -1) if calls[i].operation == operation), -1
        )
        if place < 0:
            return
        call = calls[place]
        del calls[place:]
        if call.is_part:
            return
        results = self._results(operation)
        if not results:
            yield "end", operation, -1, call.instance, None
        for value in results:
            is_plain = self._operations[operation]["kernel"] != "async.call"
            if is_plain and self._values[value]["type"].startswith("!async."):
                # The result is an object, which may be unresolved.
                yield "suspend", operation, -1, call.instance, None
            else:
                self._is_made.add(value)
                self._direct.add(operation)
                yield "available", operation, value, call.instance, None

    def _fail(self, part: _Part) -> Iterator[tuple[str, int, int, int, object]]:
        """Finish the calls of a finished part that never returned.

        Such a call failed, or the run was cancelled.
        """
        kind = "error" if self._run.request.cancellation is None else "cancelled"
        calls, part.calls = part.calls, []
        for call in reversed(calls):
            if not call.is_part:
                if kind == "error":
                    self.failed.add(call.operation)
                for value in self._results(call.operation) or [-1]:
                    self._is_made.add(value)
                    yield kind, call.operation, value, call.instance, None

    def _stop(self, part: _Part, worker: int) -> None:
        """Record that a part no longer runs on this thread."""
        running = self._running.get(worker, [])
        # The part is nearly always the last one, and the list is long in a deep recursion.
        if running and running[-1] is part:
            running.pop()
        elif part in running:
            running.remove(part)

    def _suspend(self, frame: int, worker: int) -> bool:
        """Assign the frame to the innermost running async function that has none.

        Return whether such a function exists.
        """
        running = reversed(self._running.get(worker, []))
        part = next((one for one in running if not one.frame), None)
        if part is not None:
            part.frame, self._tasks[frame] = frame, part
        return part is not None

    def _create(self, what: int, record: int, worker: int) -> tuple[str, int, int, int, object]:
        """Record which value a new object belongs to."""
        operation, function = self._maker_of(record)
        before, latest, count = self._latest.get(worker, (0, -1, 0))
        if function is not None:
            operation, call = latest, None
            # If the latest call at this place still lacks objects, this object is its next result.
            if record != before or count >= len(self._results(latest)):
                operation, call = self._called(function, worker)
                latest = -1
        results = self._results(operation)
        count = count + 1 if latest == operation and count < len(results) else 1
        if function is not None and count == 1:
            self._count += call is None
            instance = self._count if call is None else call.instance
            if function is self._function and operation < 0 and not self._functions:
                instance = 1  # the run's own call
            part = _Part(operation, instance, first=what, is_called=call is not None)
            self._functions[what] = part
            self._running.setdefault(worker, []).append(part)
        self._latest[worker] = record, operation, count
        value = results[count - 1] if count <= len(results) else -1
        self._objects[what] = value, operation
        return "create", operation, value, 0, None

    def _results(self, operation: int) -> list[int]:
        return self._operations[operation]["results"] if operation >= 0 else []

    def _called(self, function: Row, worker: int) -> tuple[int, _Call | None]:
        """Return the operation that called the async function that starts here, or -1.

        The second result is the logged call, or None.
        """
        calls = self._here(worker).calls
        name = function["name"]
        if calls and not calls[-1].is_part and self._callees.get(calls[-1].operation) == name:
            calls[-1].is_part = True
            return calls[-1].operation, calls[-1]
        sites = self._sites.get(name, ())
        return (sites[0] if len(sites) == 1 else -1), None

    def _maker_of(self, record: int) -> tuple[int, Row | None]:
        if record not in self._makers:
            self._makers[record] = self._maker(record)
        return self._makers[record]

    def _maker(self, record: int) -> tuple[int, Row | None]:
        """Return the operation of a place record, or -1.

        The second result is the async function that starts at that place, or None.
        """
        place = read_place(record) if record else None
        if place is None:
            return -1, None
        found = self._places.get((place.source, place.line, place.column))
        if found is not None:
            # A `tfrt.jit` logs a kernel's events, so it does not count as an operation of compiled
            # code.
            return found if found in self._code else -1, None
        return -1, self._functions_at.get((place.source, place.line))

    def _end_of_tasks(self, time: int) -> Iterator[Event]:
        """Yield events for failed calls and for tasks that are still finishing.

        An error, or the last result of a host function, ends the run immediately. A worker may log
        the end of its task a few microseconds later.
        """
        tasks = [part for parts in self._running.values() for part in parts]
        for part in [self._main, *tasks]:
            for kind, operation, value, instance, payload in self._fail(part):
                yield time, NUMBER[kind], operation, value, instance, -1, payload
        for part in tasks:
            part.is_closed = True
            yield time, NUMBER["end"], part.operation, -1, part.instance, -1, None

    def _end_of_function(self, time: int) -> Iterator[Event]:
        """Yield an event for each group, and for each function result that has none yet.

        No code resolves a group, so groups are shown as available when the run is over.
        """
        for value, operation in self._objects.values():
            if value >= 0 and self._values[value]["type"] == "!async.group":
                yield time, NUMBER["available"], operation, value, 0, -1, None
        results = [] if self._function is None else self._function["results"]
        for value, result in zip(results, self._run.results, strict=False):
            if self._values[value]["op"] in self._direct and result.state is State.AVAILABLE:
                self.texts[value] = preview_of(result)
            elif result.done() and value not in self._is_made:
                self._is_made.add(value)
                kind = "error" if result.state is State.ERROR else "available"
                maker = self._values[value]["op"]
                operation = -1 if maker is None else maker
                yield time, NUMBER[kind], operation, value, 1, -1, preview_of(result)
                if kind == "available":
                    self.texts.update(dict.fromkeys(self._awaited(operation), preview_of(result)))

    def _awaited(self, operation: int) -> list[int]:
        """Return the operands of an `async.await` that are results of calls that created no object.

        A function that never waits creates no object for its result. For any other operation,
        return an empty list.
        """
        if operation < 0 or self._operations[operation]["kernel"] != "async.await":
            return []
        operands = self._operations[operation]["operands"]
        return [value for value in operands if self._values[value]["op"] in self._direct]
