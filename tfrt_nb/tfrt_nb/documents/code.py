"""Events of compiled code: its tasks and objects, in ids of the program document.

The core knows an object by its address and by the record of the operation that makes it, a task by its
frame.  The objects of an operation are made one after the other, in the order of its results, and its task
is put into the queue on the same thread behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrt_nb.documents.payloads import payload_text
from tfrt_nb.documents.previews import label, preview_of
from tfrt_nb.documents.program import ProgramDocument
from tfrt_runtime.async_runtime.records import read_place
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.tracing.events import KINDS
from tfrt_runtime.host.values.async_value import State

_NUMBER = {name: number for number, name in enumerate(KINDS)}
_CALL = re.compile(r"\basync\.call @([\w$.-]+)")
_PRINT = re.compile(r"\bcall @print(?!_?(newline|comma|open|close)\b)", re.IGNORECASE)
_AS = {"start": "begin", "emplace": "available", "fail": "error"}
"""What kernels and tasks have in common has the names of kernels."""

Event = tuple[Any, ...]
"""A row of the columns."""


class CodeMap:
    """From addresses to ids, for one run.  Events have to come in order."""

    def __init__(self, run: Execution, document: ProgramDocument) -> None:
        self._places, self._run = document.places, run
        self._values = document.data["values"]
        self._operations = document.data["operations"]
        self._calls = _only_calls(document)
        self._makers: dict[int, int] = {}
        printers = [row["id"] for row in self._operations if _PRINT.search(row["text"])]
        self._printer = printers[0] if len(printers) == 1 else None
        self._is_made: set[int] = set()
        self._objects: dict[int, tuple[int, int]] = {}
        self._tasks: dict[int, tuple[int, int]] = {}
        self._latest: dict[int, tuple[int, int]] = {}
        self._count = 1
        rows = document.data["functions"]
        named = (row for row in rows if row["name"] == label(run.function.name))
        self._function = next(named, None)
        self._has_begun = self._has_ended = False

    def operation(self, kernel: int) -> int | None:
        """What has printed, where it is the only one: compiled code does not say by which operation."""
        return self._printer

    def value(self, function: int, register: int) -> int:
        """Compiled code has no registers."""
        return -1

    def rows(self, events: npt.NDArray[np.void], start: int) -> Iterator[Event]:
        """The rows of some events; `start` is when the run began."""
        for event in events:
            time = int(event["time"]) - start
            kind, worker = KINDS[event["kind"]], int(event["worker"])
            what = int(event["op"]) | int(event["value"]) << 32
            for shown, op, value, instance, payload in self._of(
                kind, what, int(event["payload"]), worker
            ):
                yield time, _NUMBER[shown], op, value, instance, worker, payload
        if self._run.is_done and not self._has_ended:
            self._has_ended = True
            yield from self._ending(int(events["time"][-1]) - start if len(events) else 0)

    def _of(
        self, kind: str, what: int, payload: int, worker: int
    ) -> Iterator[tuple[str, int, int, int, object]]:
        if kind in ("park", "wake", "steal"):
            yield kind, -1, -1, 0, None
        elif kind == "create":
            yield self._create(what, payload, worker)
        elif kind == "enqueue":
            self._count += 1
            operation, _ = self._latest.get(worker, (-1, 0))
            self._tasks[what] = operation, self._count
            yield kind, operation, -1, self._count, None
        elif kind in ("emplace", "fail"):
            value, operation = self._objects.pop(what, (-1, -1))
            if value >= 0:  # else an object of the compiler's own
                self._is_made.add(value)
                text = payload_text(self._values[value]["type"], payload)
                yield _AS[kind], operation, value, 0, text if kind == "emplace" else None
        elif what in self._tasks:
            yield _AS.get(kind, kind), self._tasks[what][0], -1, self._tasks[what][1], None
        elif kind == "start" and not self._has_begun:
            self._has_begun = True
            yield "call", -1, -1 if self._function is None else self._function["id"], 1, 0

    def _create(self, what: int, record: int, worker: int) -> tuple[str, int, int, int, object]:
        """Note which value a new object is."""
        operation = self._makers.get(record)
        if operation is None:
            operation = self._makers[record] = self._maker(record)
        before, count = self._latest.get(worker, (-1, 0))
        results = self._operations[operation]["results"] if operation >= 0 else []
        count = count + 1 if before == operation and count < len(results) else 1
        self._latest[worker] = operation, count
        value = results[count - 1] if count <= len(results) else -1
        self._objects[what] = value, operation
        return "create", operation, value, 0, None

    def _maker(self, record: int) -> int:
        """The operation of a record of a place; -1 for none."""
        if not record:
            return -1
        place = read_place(record)
        if place is None:
            return -1
        found = self._places.get((place.source, place.line, place.column))
        return self._calls.get((place.source, place.line), -1) if found is None else found

    def _ending(self, time: int) -> Iterator[Event]:
        """Events of what the function returns, and of groups, which no code resolves."""
        for value, operation in self._objects.values():
            if value >= 0 and self._values[value]["type"] == "!async.group":
                yield time, _NUMBER["available"], operation, value, 0, -1, None
        results = [] if self._function is None else self._function["results"]
        for value, result in zip(results, self._run.results, strict=False):
            if result.done() and value not in self._is_made:
                kind = "error" if result.state is State.ERROR else "available"
                maker = self._values[value]["op"]
                operation = -1 if maker is None else maker
                yield time, _NUMBER[kind], operation, value, 1, -1, preview_of(result)
                for awaited in self._awaited(operation) if kind == "available" else ():
                    maker = self._values[awaited]["op"]
                    yield time, _NUMBER[kind], maker, awaited, 1, -1, preview_of(result)

    def _awaited(self, operation: int) -> list[int]:
        """What an await takes that no event is about: an async function that never waits makes no object."""
        if operation < 0 or self._operations[operation]["kernel"] != "async.await":
            return []
        operands = self._operations[operation]["operands"]
        unknown = (value for value in operands if value not in self._is_made)
        return [value for value in unknown if self._values[value]["op"] is not None]


def _only_calls(document: ProgramDocument) -> dict[tuple[str, int], int]:
    """The operation that calls the async function of a file's line, where there is only one: its object is the call's."""
    callers: dict[str, list[int]] = {}
    for row in document.data["operations"]:
        if found := _CALL.search(row["text"]):
            callers.setdefault(found[1], []).append(row["id"])
    return {
        place: callers[row["name"]][0]
        for place, row in document.functions_at.items()
        if row["kind"] == "async" and len(callers.get(row["name"], ())) == 1
    }
