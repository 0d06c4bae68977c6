"""Convert the events of kernels to ids of the program document.

The core identifies a value by a function and one of its registers, and a kernel by its number
within the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any

from tfrt_nb.documents.escapes import label
from tfrt_nb.documents.events import (
    CALL,
    COLUMNS,
    NUMBER,
    SKIPPED,
    STATES,
    Columns,
    Event,
    among,
    columns_of,
)
from tfrt_nb.documents.previews import word_text
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.programs import Program
from tfrt_runtime.bef.records import FunctionKind
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.tracing.events import NO_VALUE, LogColumns
from tfrt_runtime.native.layouts import TYPE_F64

_AVAILABLE = NUMBER["available"]
_OF_KERNELS = among("enqueue", "begin", "end") | STATES.keys()
_OF_CODE = among(
    *("create", "enqueue", "start", "suspend", "resume", "emplace", "fail", "enter", "leave")
)


def is_of_code(register: int, kind: int) -> bool:
    """Tell whether an event comes from compiled code, and so has an address instead of numbers."""
    return kind in _OF_CODE and register != NO_VALUE


# The kind, the operation, the value, and the worker of an event, each -1 for none; the type of its
# payload's text, "" for no text, or None for the number itself, which is a row; and the function
# that it names, or -1.
_Place = tuple[int, int, int, int, str | None, int]
_OF_CODE_ITSELF: _Place = -1, -1, -1, -1, "", -1


@lru_cache(4096)
def _payload(form: str | None, word: int) -> str | int | None:
    """Return the payload of an event; `form` is as in `_Place`."""
    return word if form is None else word_text(form, word)


class KernelMap(dict[tuple[int, int], _Place]):
    """Maps numbers of the native core to ids of the program document.

    The keys are the second and the fourth column of logged events; entries are made when they are
    first needed.
    """

    def __init__(self, program: Program, run: Execution, document: ProgramDocument) -> None:
        self._values = document.data["values"]
        loaded = run.program.functions
        # Loading gives each native function a body: registers, and a kernel after the file's own
        # kernels.
        bodies = sum(len(function.kernels) for function in loaded) - len(document.kernels)
        self._kernels = [*document.kernels, *[-1] * bodies]
        self._registers = [
            [*own, *[-1] * (function.register_count - len(own))]
            for own, function in zip(document.registers, loaded, strict=True)
        ]
        self._makers = [-1 if row["op"] is None else row["op"] for row in self._values]
        self._types = [row["type"] for row in self._values]
        self._functions = [(-1, -1)] * len(program.file.functions)
        self._find_functions(program, document)
        self._constants = run.program.constants
        self._called = {-1}  # the functions whose constants have rows; -1 is no function
        self._has_code = False

    def _find_functions(self, program: Program, document: ProgramDocument) -> None:
        """Find the row of each function, and the operation of each region (-1 for others)."""
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

    def function_row(self, function: int) -> int:
        """Return the row of a function of the file, or -1."""
        return self._functions[function][1]

    def operation(self, kernel: int) -> int | None:
        """Return the operation of a kernel, or None."""
        found = self._kernels[kernel] if 0 <= kernel < len(self._kernels) else -1
        return None if found < 0 else found

    def value(self, function: int, register: int) -> int:
        """Return the value of a register, or -1 if the source does not have it."""
        return self._registers[function][register]

    def __missing__(self, key: tuple[int, int]) -> _Place:
        """Return the place of an event."""
        where, register, kind, worker = key[0] & NO_VALUE, key[0] >> 32, key[1] & 63, key[1] >> 6
        op = value = function = -1
        form: str | None = ""
        if is_of_code(register, kind):
            self._has_code = True
            return _OF_CODE_ITSELF  # not kept, because there are many addresses
        if kind == CALL:
            (op, value), form, function = self._functions[where], None, where
        elif kind in STATES and register != NO_VALUE:
            value, function = self._registers[where][register], where
            op = self._makers[value] if value >= 0 else -1
            form = self._types[value] if value >= 0 and kind == _AVAILABLE else ""
        elif kind in _OF_KERNELS and register == NO_VALUE:
            op = self._kernels[where]
        # The thread of a `skipped` event only passes on an error: a skipped kernel runs on no
        # thread.
        by = -1 if kind == SKIPPED else worker
        self[key] = place = kind, op, value, by, form, function
        return place

    def columns(self, logged: LogColumns) -> Columns:
        """Return the rows of events whose times count from the run's start, without events of
        compiled code.

        Constants become available when their function is called, and the core logs no events for
        them. If the event of the call was overwritten, the first event of a value in the function
        shows the call.
        """
        places = list(map(self.__getitem__, zip(logged[1], logged[3], strict=True)))
        if self._has_code:
            ours = [at for at, place in enumerate(places) if place is not _OF_CODE_ITSELF]
            logged = tuple([column[at] for at in ours] for column in logged)
            places = [places[at] for at in ours]
        times, _, instances, _, words = logged
        kinds, ops, values, workers, forms = (map(itemgetter(at), places) for at in range(5))
        payloads = map(_payload, forms, words)
        lists = map(list[Any], (times, kinds, ops, values, instances, workers, payloads))
        found = dict(zip(COLUMNS, lists, strict=True))
        for function in set(map(itemgetter(-1), places)) - self._called:
            at = next(at for at, place in enumerate(places) if place[-1] == function)
            first = (found[name][at] for name in ("time", "instance", "worker"))
            rows = [*self.constants_of(function, *first)]
            places[at + 1 : at + 1] = [places[at]] * len(rows)
            for name, items in columns_of(rows).items():
                found[name][at + 1 : at + 1] = items
        return found

    def constants_of(self, function: int, time: int, instance: int, worker: int) -> Iterator[Event]:
        """Yield the rows of a function's constants, given some fields of its first row."""
        self._called.add(function)
        for register, constant in self._constants[function].items():
            value = self.value(function, register)
            if value < 0:
                continue
            is_word = constant.payload_type <= TYPE_F64
            text = word_text(self._types[value], constant.first) if is_word else None
            yield time, _AVAILABLE, self._makers[value], value, instance, worker, text
