"""A program as a document: its functions, operations, and values with ids, names, and locations.

Ids count from 0 in source order. The document of a program with a source comes from the program's
module. If every line is plain, the program has no module, and the document comes from its records
and lines. The document of a file comes from the file's records. The terminator of a function or a
region (a return, a yield) is not an operation: its operands are the `results` of the function or
the region.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import cached_property
from linecache import getlines

from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.convert.collect import Collector
from tfrt_nb.convert.graph import Document, Graph
from tfrt_nb.documents.events import OF_CODE
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
from tfrt_runtime.bef.records import collector_paused

Body = tuple[int, int | None, int]
"""A function's body or a region.

The parts are the function, the operation with the region or None, and the region's number.
"""
_SYMBOL = re.compile(r"@([\w$.-]+)")


def program_document(program: Program | ModuleOp) -> dict[str, list[Row]]:
    """Return the document of a program, or of a module that `source.parse_module` has created.

    Returns:
        `functions`, `operations` and `values`, each a list of rows whose `id` is their index.
        Operations in a `tfrt.jit` have `compiled`, and the arguments of its region have the outer
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

        is_drawn = 0 < len(shown["operations"]) <= MAX_NODES
        return image(own_picture(shown)) if is_drawn else None

    return Graph(lambda: program_document(program), picture)


def callee_of(row: Row) -> str:
    """Return the name of the function that a call's text names, or "" for other operations."""
    found = _SYMBOL.search(row["text"]) if row["kernel"].endswith(".call") else None
    return "" if found is None else found[1]


def body_of(row: Row) -> Body:
    """Return the body that contains an operation."""
    return row["function"], row["parent"], row["region"]


class ProgramDocument:
    """The document of a program, and the maps from a run's numbers to the document's ids.

    - `kernels` has the operation of each kernel of the program's file.
    - `registers` has the value of each register of each function, or -1 if the source does not have
      it.
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
                    # The lines of this source are the file's, whereas `loc(...)` states the lines
                    # of the program.
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

        The body of a native function, for instance, has none.
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
