"""Fill the rows of a program's document, from its module or from the records of its file.

A row describes a function, an operation, or a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, count, repeat
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from tfrt_nb.compiled.division import is_compiled
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.control_flow import SYNC
from tfrt_nb.dialects.control_flow.regions import JitOp
from tfrt_nb.documents.escapes import first_line, label
from tfrt_nb.programs import Program
from tfrt_nb.source.spans import SourceSpan, source_span, value_name
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefKernel, FunctionKind
from tfrt_runtime.diagnostics import Location

Row = dict[str, Any]
CHAINS = ("!tfrt.chain", "!async.token")
_LOCATION = re.compile(r'\s*loc\((?:"[^"\n]*"|\w[^"\n]*)[^\n]*\)$')
"""Matches the location at the end of an operation's text; pictures leave this location out."""


class Rows:
    """Collects the functions, operations, and values that a walk finds, as rows of a document."""

    def __init__(self) -> None:
        self.functions: list[Row] = []
        self.operations: list[Row] = []
        self.values: list[Row] = []

    def add_value(self, name: str, type_: str, function: int, operation: int | None = None) -> int:
        number = len(self.values)
        self.values.append(
            {
                "id": number,
                "name": label(name),
                "type": label(type_),
                "chain": type_ in CHAINS,
                "op": operation,
                "function": function,
            }
        )
        return number

    def add_function(self, name: str, kind: str, line: int) -> Row:
        row: Row = {
            "id": len(self.functions),
            "name": label(name),
            "kind": kind,
            "line": line,
            "end_line": line,
            "arguments": [],
            "results": [],
            "result_types": [],
        }
        self.functions.append(row)
        return row

    def add_operation(
        self, kernel: str, text: str, owner: Owner, place: tuple[int, int, int, int]
    ) -> Row:
        line, column, end_line, end_column = place
        row: Row = {
            "id": len(self.operations),
            "kernel": label(kernel),
            "text": first_line(_LOCATION.sub("", text)),
            "function": owner.function,
            "parent": owner.parent,
            "region": owner.region,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
            "operands": [],
            "results": [],
            "regions": [],
        }
        self.operations.append(row)
        return row


class Owner:
    """The owner of the body that a walk visits: a function, or a region of an operation.

    `row` receives the `arguments` and `results` of the body. `jit` is the enclosing `tfrt.jit`, or
    None.
    """

    __slots__ = ("function", "jit", "parent", "region", "row")

    def __init__(
        self,
        row: Row,
        function: int,
        parent: int | None = None,
        region: int = 0,
        jit: JitOp | None = None,
    ) -> None:
        self.row, self.function, self.parent, self.region = row, function, parent, region
        self.jit = jit


_KINDS = {FunctionKind.SYNC: "sync", FunctionKind.ASYNC: "host"}
# The pattern also matches comments and strings, so that braces in them do not count.
_BRACE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|(\})')


def span_start(span: SourceSpan) -> tuple[str, int]:
    """Return the source that contains a name, and the name's offset in that source."""
    return span.source.name, span.start


def start_of(node: Operation | BlockArgument) -> tuple[str, int]:
    """Return `span_start` of an IR node's name, or `("", -1)` if the node has no source."""
    span = source_span(node)
    return ("", -1) if span is None else span_start(span)


def place_of(span: SourceSpan, by_location: bool) -> tuple[str, int, int]:
    """Return the file, line, and column of a name.

    This is its place in the source or, with `by_location`, the location that the source states.
    """
    where = span.explicit
    if by_location and isinstance(where, FileLineColLoc):
        return where.filename.data, where.line.data, where.column.data
    return span.source.name, *span.source.line_and_column(span.start)


class ModuleWalk:
    """Fills the rows from a module, in source order, without recursion.

    If `name` is given, line numbers refer to the source with that name. With `by_location`, lines
    come from the operations' locations instead of the source.
    """

    def __init__(self, rows: Rows, module: ModuleOp, name: str | None, by_location: bool) -> None:
        self._name, self._by_location = name, by_location
        self.spans: dict[int, SourceSpan] = {}
        self.functions_at: dict[tuple[str, int], Row] = {}
        self.argument_at: dict[tuple[str, int], int] = {}
        self.results_of: dict[int, list[int]] = {}
        self._rows = rows
        self._ids: dict[SSAValue, int] = {}
        self._types: dict[Attribute, str] = {}
        self._uses: list[tuple[Row, str, Sequence[SSAValue]]] = []
        self._add_module(module)
        # Uses are resolved last, because a value may be used before its definition.
        for row, key, operands in self._uses:
            row[key] = [self._ids[value] for value in operands]

    def _add_module(self, module: ModuleOp) -> None:
        for op in module.ops:
            if isinstance(op, ModuleOp):
                self._add_module(op)
            elif isinstance(op, FuncOp | AsyncFuncOp) and op.body.blocks:
                self._add_function(op)

    def _add_function(self, op: FuncOp | AsyncFuncOp) -> None:
        if is_compiled(op):
            kind = "async" if isinstance(op, AsyncFuncOp) else "func"
        else:
            kind = "sync" if SYNC in op.attributes else "host"
        span = source_span(op)
        line = self._place(op)[0]
        row = self._rows.add_function(op.sym_name.data, kind, line)
        row["result_types"] = [label(self._type(one)) for one in op.function_type.outputs]
        owner = Owner(row, len(self._rows.functions) - 1)
        if span is not None:
            self.functions_at[place_of(span, self._by_location)[:2]] = row
        first = len(self._rows.operations)
        end = self._add_body(owner, op)
        if self._by_location:
            # A location states only a start.
            row["end_line"] = max([line, *(o["line"] for o in self._rows.operations[first:])])
        elif span is not None:
            position = max(end, span.end)
            braces = (one.start() for one in _BRACE.finditer(span.source.text, position) if one[1])
            row["end_line"] = span.source.line_and_column(next(braces, position))[0]

    def _add_body(self, owner: Owner, op: Operation) -> int:
        """Add the contents of the regions of `op`, at any depth.

        Return the position in the source at which the last operation ends.
        """
        end = 0
        waiting = [self._body(owner, op.regions[0].blocks)]
        while waiting:
            for within, block, inner in waiting[-1]:  # the iterator continues where it stopped
                span = source_span(inner)
                if span is not None:
                    end = max(end, span.end)
                if _is_end(inner):
                    self._uses.append((within.row, "results", inner.operands))
                    continue
                row = self._add_operation(within, inner)
                if block:
                    row["block"] = block
                # Push the last region first, so that the first one is visited first.
                for index, region in reversed(list(enumerate(inner.regions))):
                    body: Row = {"arguments": [], "results": []}
                    row["regions"].insert(0, body)
                    jit = inner if isinstance(inner, JitOp) else within.jit
                    inside = Owner(body, owner.function, row["id"], index, jit)
                    waiting.append(self._body(inside, region.blocks))
                if inner.regions:
                    break
            else:
                waiting.pop()
        return end

    def _body(
        self, owner: Owner, blocks: Sequence[Block]
    ) -> Iterator[tuple[Owner, int, Operation]]:
        """Yield the operations of a body, each with its block's number, and add its arguments."""
        for index, block in enumerate(blocks):
            for argument in block.args:
                name = value_name(argument) or ""
                number = self._add_value(argument, name, owner.function)
                if index == 0 and owner.jit is not None and block.parent_op() is owner.jit:
                    outside = owner.jit.operands[argument.index]
                    self._rows.values[number]["parent"] = self._ids.get(outside)
                self.argument_at[start_of(argument)] = number
                if index == 0:
                    owner.row["arguments"].append(number)
            for op in block.ops:
                yield owner, index, op

    def _add_operation(self, owner: Owner, op: Operation) -> Row:
        span = source_span(op)
        text = op.name if span is None else span.source.text[span.first : span.end].strip()
        place = self._place(op)
        row = self._rows.add_operation(op.name, text, owner, place)
        if owner.jit is not None:
            row["compiled"] = True
        number = len(self._rows.operations) - 1
        if span is not None:
            self.spans[number] = span
        results = [
            self._add_value(result, value_name(result) or "", owner.function, number)
            for result in op.results
        ]
        row["results"] = self.results_of[number] = results
        self._uses.append((row, "operands", op.operands))
        return row

    def _place(self, op: Operation) -> tuple[int, int, int, int]:
        """Return the lines and columns at which an operation starts and ends, or 0 if unknown."""
        span = source_span(op)
        if self._by_location:
            location = None if span is None else span.explicit
            if not isinstance(location, FileLineColLoc):
                return 0, 0, 0, 0
            return (location.line.data, location.column.data) * 2
        if span is None or span.source.name != (self._name or span.source.name):
            return 0, 0, 0, 0
        end = span.location
        return *span.source.line_and_column(span.first), end.end_line, end.end_column

    def _add_value(
        self, value: SSAValue, name: str, function: int, operation: int | None = None
    ) -> int:
        number = self._rows.add_value(name, self._type(value.type), function, operation)
        self._ids[value] = number
        return number

    def _type(self, type_: Attribute) -> str:
        text = self._types.get(type_)
        if text is None:
            text = self._types[type_] = str(type_)
        return text


def _is_end(op: Operation) -> bool:
    """Return whether an operation does nothing but end its body and return results."""
    is_last = op.next_op is None and not op.results and not op.regions and not op.successors
    return is_last and op.has_trait(IsTerminator)


class FileWalk:
    """Fills the rows from the records of a file.

    If the file has a plain source, names come from that source.
    """

    def __init__(self, rows: Rows, program: Program) -> None:
        self._rows = rows
        self._file: BefFile = program.file
        self._plain = program._plain
        self._labels = program._labels
        self._bodies = [] if program._plain is None else program._plain.bodies
        functions = program.file.functions
        self._first: list[int] = []
        total = 0
        for function in functions:
            self._first.append(total)
            total += len(function.kernels)
        self.kernels = [-1] * total
        self.registers: list[list[int]] = [[] for _ in functions]
        for index in self._in_order():
            self._add_function(index)

    def _in_order(self) -> list[int]:
        """Return the functions that have names and bodies, in source order."""
        return [i for i, f in enumerate(self._file.functions) if f.name and f.kind in _KINDS]

    def _add_function(self, index: int) -> None:
        function = self._file.functions[index]
        line, _ = self._place(function.location)
        row = self._rows.add_function(function.name, _KINDS[function.kind], line)
        row["result_types"] = [label(one) for one in function.result_types]
        last = self._add_body(Owner(row, len(self._rows.functions) - 1), index, count())
        row["end_line"] = self._bodies[index].end_line if self._bodies else max(line, last)

    def _add_body(self, owner: Owner, index: int, numbers: Iterator[int]) -> int:
        """Add the body of function `index` and the bodies of its regions; return the last line."""
        last = 0
        waiting = [self._body(owner, index, numbers)]
        while waiting:
            for kernel, row in waiting[-1]:
                last = max(last, row["line"])
                regions = [i for i in kernel.functions if not self._file.functions[i].name]
                for region, inner in reversed(list(enumerate(regions))):
                    body: Row = {"arguments": [], "results": []}
                    row["regions"].insert(0, body)
                    within = Owner(body, owner.function, row["id"], region)
                    waiting.append(self._body(within, inner, numbers))
                if regions:
                    break
            else:
                waiting.pop()
        return last

    def _body(
        self, owner: Owner, index: int, numbers: Iterator[int]
    ) -> Iterator[tuple[BefKernel, Row]]:
        function = self._file.functions[index]
        registers = self.registers[index]
        types = _register_types(function)
        texts: Sequence[str] = ()
        if self._plain is not None:
            names = iter([name for name, _, _ in self._plain.names(self._bodies[index])])
        elif self._labels is not None:
            found, texts = self._labels(function.name, len(function.argument_types))
            names = chain(found, repeat(""))
        else:
            names = (f"%{number}" for number in numbers)
        for _ in function.argument_types:
            registers.append(
                self._rows.add_value(next(names), types[len(registers)], owner.function)
            )
        owner.row["arguments"] = registers[:]
        for number, kernel in enumerate(function.kernels):
            row = self._add_operation(owner, kernel, index, number)
            operation = len(self._rows.operations) - 1
            self.kernels[self._first[index] + number] = operation
            row["operands"] = operands = [registers[register] for register in kernel.arguments]
            values = [
                self._rows.add_value(next(names), types[register], owner.function, operation)
                for register in kernel.results
            ]
            registers += values
            row["results"] = values
            if self._plain is None:
                row["text"] = self._text(kernel, values, operands)
            # The text of a call must name its callee: see `callee_of`.
            is_named = number < len(texts) and not kernel.name.endswith(".call")
            if is_named and (made := first_line(texts[number])):
                own = [str(self._rows.values[one]["name"]) for one in values]
                row["text"] = made if made in own else f"{', '.join(own)} = {made}"
            yield kernel, row
        owner.row["results"] = [registers[register] for register in function.result_registers]

    def _add_operation(self, owner: Owner, kernel: BefKernel, index: int, number: int) -> Row:
        if self._plain is None:
            line, column = self._place(kernel.location)
            return self._rows.add_operation(
                kernel.name, kernel.name, owner, (line, column, line, column)
            )
        source = self._plain.source
        start, end = self._plain.extent(self._bodies[index], number)
        line, column = source.line_and_column(start)
        place = (line, column, line, column + end - start)
        return self._rows.add_operation(kernel.name, source.text[start:end], owner, place)

    def _text(self, kernel: BefKernel, results: Sequence[int], operands: Sequence[int]) -> str:
        """Return the text, in program syntax, of an operation that has no source."""
        values, functions = self._rows.values, self._file.functions
        left = ", ".join(str(values[number]["name"]) for number in results)
        right = ", ".join(str(values[number]["name"]) for number in operands)
        called = "".join(f" @{functions[i].name}" for i in kernel.functions if functions[i].name)
        return f"{left}{' = ' if left else ''}{kernel.name}{called}{' ' if right else ''}{right}"

    def _place(self, offset: int) -> tuple[int, int]:
        """Return the line and column of a location, or 0 if it is not in a file."""
        location = self._file.location(offset)
        if not isinstance(location, Location) or (
            self._labels is not None and location.source != self._file.name
        ):
            return 0, 0
        return location.line, location.column


def _register_types(function: BefFunction) -> Sequence[str]:
    """Return the types of all registers; a type that the file does not state is ""."""
    if function.register_types is not None:
        return function.register_types
    types = [""] * function.register_count
    types[: len(function.argument_types)] = function.argument_types
    for register, type_ in zip(function.result_registers, function.result_types, strict=True):
        types[register] = type_
    return types
