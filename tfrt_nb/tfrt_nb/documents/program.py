"""A program as a document: its functions, operations, and values with ids, names, and locations.

Ids count from 0 in source order. The document of a program with a source is made from the program's
module. If every line is plain, the program has no module, and the document is made from its records
and lines. The document of a file is made from the file's records. The terminator of a function or a
region (a return, a yield) is not an operation: its operands are the `results` of the function or
the region.

The core identifies a value by a function and one of its registers, and a kernel by its number
within the program. `KernelMap` converts the events of a run's kernels to ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cached_property, lru_cache
from linecache import getlines
from operator import itemgetter
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.convert.collect import Collector
from tfrt_nb.convert.graph import Document, Graph
from tfrt_nb.documents.escapes import label
from tfrt_nb.documents.events import (
    CALL,
    COLUMNS,
    NUMBER,
    OF_CODE,
    SKIPPED,
    STATES,
    Columns,
    Event,
    among,
    columns_of,
)
from tfrt_nb.documents.previews import word_text
from tfrt_nb.documents.walks import (
    CHAINS,
    FileWalk,
    ModuleWalk,
    Row,
    Rows,
    place_of,
    span_start,
    start_of,
)
from tfrt_nb.nesting import deep_stack
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.records import FunctionKind, collector_paused
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.tracing.events import NO_VALUE, LogColumns
from tfrt_runtime.native.layouts import TYPE_F64

Body = tuple[int, int | None, int]
"""A function's body or a region.

The parts are the function, the operation with the region or None, and the region's number.
"""
_SYMBOL = re.compile(r"@([\w$.-]+)")
_AVAILABLE = NUMBER["available"]
_OF_KERNELS = among("enqueue", "begin", "end") | STATES.keys()
_OF_CODE = among(
    *("create", "enqueue", "start", "suspend", "resume", "emplace", "fail", "enter", "leave")
)


def program_document(program: Program | ModuleOp) -> dict[str, list[Row]]:
    """Return the document of a program, or of a module that `source.parse_module` created.

    Returns:
        `functions`, `operations` and `values`, each a list of rows whose `id` is their index.
        Operations in a `tfrt.jit` have `compiled`, and each argument of its region has the outer
        value as `parent`.
    """
    return ProgramDocument(program).data


def program_graph(program: Program) -> Graph:
    """Return the graph of a program's operations.

    A notebook shows the graph as a picture unless it is large.
    """

    def picture(shown: Document) -> str | None:
        # Imported here because pictures need NumPy, but Graphviz source does not.
        from tfrt_nb.documents.picture import MAX_NODES, image, own_picture

        return image(own_picture(shown)) if 0 < len(shown["operations"]) <= MAX_NODES else None

    return Graph(lambda: program_document(program), picture)


def callee_of(row: Row) -> str:
    """Return the name of the function in a call's text, or "" for other operations."""
    found = _SYMBOL.search(row["text"]) if row["kernel"].endswith(".call") else None
    return "" if found is None else found[1]


def body_of(row: Row) -> Body:
    """Return the body that contains an operation."""
    return row["function"], row["parent"], row["region"]


class ProgramDocument:
    """The document of a program, and the maps from a run's numbers to the document's ids.

    - `kernels` contains the operation of each kernel in the program's file.
    - `registers` contains the value of each register of each function, or -1 if the source does not
      have it.
    - `places` maps the file, line, and column of a name to its operation.
    - `functions_at` maps a file and line to a function, because compiled code records nothing else
      about a function. Functions linked from another source have line 0.
    """

    def __init__(self, program: Program | ModuleOp) -> None:
        self._rows = Rows()
        self.kernels: list[int] = []
        self.registers: list[list[int]] = []
        self.places: dict[tuple[str, int, int], int] = {}
        self.functions_at: dict[tuple[str, int], Row] = {}
        is_plain = not isinstance(program, ModuleOp) and program._plain is not None
        with collector_paused(), nullcontext() if is_plain else deep_stack():
            if isinstance(program, ModuleOp):
                self._read_module(program)
            elif program._labels is None and program.text and program._plain is None:
                # Parse the source again, because passes have changed the program's own module.
                is_whole = program._compiled is None and program._module is not None
                module = program._module if is_whole else program._parsed()
                assert module is not None
                self._find_records(program, self._read_module(module, program.name))
            else:
                records = FileWalk(self._rows, program)
                self.kernels, self.registers = records.kernels, records.registers
                if program._compiled is not None:
                    # The lines of this source are those of the file, whereas `loc(...)` states
                    # lines of the program.
                    module = parse_module(program.file.compiled, program.name)
                    self._read_module(module, by_location=True)

    def _read_module(
        self, module: ModuleOp, name: str | None = None, *, by_location: bool = False
    ) -> ModuleWalk:
        walk = ModuleWalk(self._rows, module, name, by_location)
        self.places = {place_of(span, by_location): one for one, span in walk.spans.items()}
        self.functions_at = walk.functions_at
        return walk

    def operation_of(self, kernel: int) -> int:
        """Return the operation of a loaded program's kernel, or -1 if it has none.

        For instance, a kernel in the body of a native function has none.
        """
        return self.kernels[kernel] if kernel < len(self.kernels) else -1

    @cached_property
    def code(self) -> frozenset[int]:
        """The operations that become machine code.

        They are in compiled functions or in a `tfrt.jit`.
        """
        is_code = [row["kind"] in OF_CODE for row in self._rows.functions]
        rows = self._rows.operations
        return frozenset(r["id"] for r in rows if is_code[r["function"]] or "compiled" in r)

    @cached_property
    def data(self) -> dict[str, list[Row]]:
        """The three lists of rows, by name."""
        rows = self._rows
        return {"functions": rows.functions, "operations": rows.operations, "values": rows.values}

    def python_source(self, name: str) -> str:
        """Return the lines of the Python file that belong to a traced program's functions.

        All other lines are empty.
        """
        spans = [(row["line"], row["end_line"]) for row in self._rows.functions]
        own = {number for first, last in spans for number in range(first, last + 1)}
        lines = enumerate(getlines(name)[: max(own, default=0)], 1)
        return "".join(line if number in own else "\n" for number, line in lines)

    def _find_records(self, program: Program, walk: ModuleWalk) -> None:
        """Find the rows for the file's kernels and registers.

        A kernel and its row have the same location.
        """
        assert program._module is not None
        operation_at = {span_start(span): number for number, span in walk.spans.items()}
        regions = {number: iter(self._rows.operations[number]["regions"]) for number in walk.spans}
        for function in Collector(program._module, optional_sections=False).functions:
            registers: list[int] = []
            operation = operation_at.get(start_of(function.op), -1)
            if not function.name and operation >= 0:  # an operation's regions are in order
                registers = list(next(regions[operation])["arguments"])
            elif function.block is not None:
                registers = [walk.argument_at.get(start_of(arg), -1) for arg in function.block.args]
            for call in function.calls:
                operation = operation_at.get(start_of(call.op), -1)
                results = walk.results_of.get(operation, ())
                if results and not self._rows.values[results[0]]["chain"]:
                    # A `hex.run` names its chain last, but the call that replaces it returns the
                    # chain first.
                    late = str(call.op.results[0].type) in CHAINS
                    results = [*results[-1:], *results[:-1]] if late else results
                is_same = len(results) == len(call.op.results)
                self.kernels.append(operation)
                registers += results if is_same else [-1] * len(call.op.results)
            self.registers.append(registers)


def is_of_code(register: int, kind: int) -> bool:
    """Return whether an event comes from compiled code, and so has an address, not numbers."""
    return kind in _OF_CODE and register != NO_VALUE


# An event's kind, operation, value, and worker, each -1 if there is none; the type with which its
# payload is formatted, "" if it has no text, or None if the payload is itself the number of a row;
# and the function that the event names, or -1.
_Place = tuple[int, int, int, int, str | None, int]
_OF_CODE_ITSELF: _Place = -1, -1, -1, -1, "", -1


@lru_cache(4096)
def _payload(form: str | None, word: int) -> str | int | None:
    """Return the payload of an event; `form` is as in `_Place`."""
    return word if form is None else word_text(form, word)


class KernelMap(dict[tuple[int, int], _Place]):
    """Maps numbers of the native core to ids of the program document.

    The keys are the second and the fourth column of logged events. Each entry is created when it is
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
        self._called = {-1}  # the functions whose constants have rows; -1 means no function
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
        # The thread of a `skipped` event only passes on an error, because a skipped kernel does not
        # run on any thread.
        by = -1 if kind == SKIPPED else worker
        self[key] = place = kind, op, value, by, form, function
        return place

    def columns(self, logged: LogColumns) -> Columns:
        """Return the rows of kernels' events, whose times count from the run's start.

        Events of compiled code are left out.

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
            # Keep `places` parallel to the columns, because the next function searches it.
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
