"""Read plain programs; see `source.plain`. The parser parses only the first line of each shape."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.catalog import UnknownOp
from tfrt_nb.dialects.control_flow import IfOp, JitOp, ReturnOp
from tfrt_nb.dialects.control_flow.calls import BodyOp, CallingOp
from tfrt_nb.dialects.kernel_op import KernelOp
from tfrt_nb.nesting import MAX_NESTING, deep_stack
from tfrt_nb.source.parser import SourceParser
from tfrt_nb.source.plain.program import (
    ANY_NAME,
    ARGUMENT,
    COMMENT_OR_NOTHING,
    HEAD,
    HOLE,
    MAX_LINE,
    NO_NAME,
    Body,
    Key,
    Memory,
    NotPlain,
    PlainProgram,
    Row,
    Shape,
    Types,
    apart,
    is_nothing,
    name_results,
    next_closer,
    rows_of,
)
from tfrt_nb.source.spans import SourceText, source_span
from tfrt_nb.source.verification import check_operation
from tfrt_runtime.bef.locations import FilePlace

_LOCATION = re.compile(r'\bloc\("([^"\\]*)":([0-9]{1,9}):([0-9]{1,9})\)[ ]*', re.ASCII)
_Known: TypeAlias = tuple[Shape, int]


def read_plain(source: SourceText) -> PlainProgram | None:
    """Return the functions of a valid plain program, or None for any other source."""
    try:
        return PlainProgram(source, _Reader(source).read())
    except NotPlain:
        return None


class _Registers(dict[str, int]):
    """Maps each value's name to its register. Looking up an unknown name raises NotPlain."""

    def __missing__(self, name: str) -> int:
        raise NotPlain


class _Names(NamedTuple):
    """The names in a line, and a key that is equal for lines that differ only in names.

    `ends[i]` is the total length, in characters, of the first i names, so `ends[0]` is 0.
    """

    names: list[str]
    ends: list[int]
    key: tuple[str | tuple[int, ...], ...]


class _Line(NamedTuple):
    """The result of reading a one-line operation.

    The result is valid for all lines with the same `_Names.key`. `operands` contains the positions
    of the operands among the line's names. For each operation in each region, `columns` contains
    the number of names before it, and the number of other characters.
    """

    shape: Shape
    number: int
    operands: tuple[int, ...]
    regions: tuple[Body, ...]
    columns: tuple[tuple[tuple[int, int], ...], ...]


_MEMORY = Memory()


class _Reader:
    """Reads one source."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._shapes: dict[Key, _Known] = {}
        self._table: list[Shape] = []
        self._lines: dict[tuple[str | tuple[int, ...], ...], _Line] = {}
        self._lists: dict[str, Types] = {}
        self._contents: list[Shape | Body] = []
        # These shapes need no check, because they differ from valid shapes only in a number.
        self._sure: set[Shape | None] = set()
        self._nesting = 0

    @cached_property
    def _parser(self) -> SourceParser:
        return SourceParser(self._source)

    def read(self) -> list[Shape | Body]:
        """Return the contents of the program.

        Raises:
            NotPlain: if the source is invalid or not plain.
        """
        rows = rows_of(self._source.text)
        functions: list[Body] = []
        for line, row in rows:
            if not is_nothing(row):
                function, names = self._read_head(line)
                self._read_body(rows, function, names, list(function.argument_types))
                _check_sync_return(function)
                function.end_line, closer = next_closer(rows)
                if closer != "}":
                    raise NotPlain
                self._contents.append(function)
                functions.append(function)
        self._check(functions)
        shapes = {key: self._table[number] for key, (_, number) in self._shapes.items()}
        _MEMORY.learn(shapes, self._lists)
        return self._contents

    def _read_head(self, line: int) -> tuple[Body, _Registers]:
        """Return the function whose head is on this line, and the registers of its arguments."""
        start = self._source.line_start(line)
        match = HEAD.match(self._source.text, start)
        if match is None:
            raise NotPlain
        names = _Registers()
        types: list[Attribute] = []
        position, end = match.span(3)
        while position < end:
            argument = ARGUMENT.match(self._source.text, position, end)
            if argument is None or argument[1] in names:
                raise NotPlain
            names[argument[1]] = len(types)
            types += self._read_types(argument[2], argument.start(2))
            position = argument.end()
        group = 4 if match[4] is not None else 5
        results = self._read_types(match[group] or "", match.start(group))
        column = match.start() + len(match[0]) - len(match[0].lstrip()) - start + 1
        flags = match[6] is not None, match[1] == "private"
        place = line, column
        table = self._table
        return Body(match[2], tuple(types), results, *place, types, table, None, *flags), names

    def _read_types(self, text: str, position: int) -> Types:
        listed = text.strip()
        if not listed:
            return ()
        types = self._lists.get(listed) or _MEMORY.lists.get(listed)
        if types is None:
            try:
                found = self._parser.types_at(listed, position + text.index(listed))
            except Exception as problem:  # as in `_read_shape`
                raise NotPlain from problem
            if found is None:
                raise NotPlain
            types = self._lists[listed] = _MEMORY.same(found)
        return types

    def _read_body(
        self,
        rows: Iterator[tuple[int, Row]],
        body: Body,
        names: dict[str, int],
        types: list[Attribute],
    ) -> None:
        """Read the lines of a body up to its return."""
        shapes = self._shapes
        body.register_types = types
        add_number, add_operands = body.numbers.append, body.operands.extend
        add_line, add_column = body.lines.append, body.columns.append
        # `map` takes two thirds as long as a comprehension.
        register_of, type_of = names.__getitem__, types.__getitem__
        for line, row in rows:
            before, result, more, head, listed, tail, other = row
            if not head:
                if result or not COMMENT_OR_NOTHING.fullmatch(other):
                    raise NotPlain
                continue
            inside, written, known = rows, None, None
            if "}" in tail:
                written = _names_of(row)
                known = None if written is None else self._lines.get(written.key)
                if known is None:
                    (_, row), *parts = apart(line, row)
                    before, result, more, head, listed, tail, _ = row
                    inside, written = (iter(parts), written) if parts else (rows, None)
            operands: tuple[int, ...] = ()
            if known is not None and written is not None:
                shape, number = known.shape, known.number
                operands = tuple([names[written.names[index]] for index in known.operands])
            else:
                if '"' in tail:
                    head, tail, place = _split_location(head, tail)
                    if place is not None:
                        body.places[len(body.numbers)] = place
                if "%" in tail:
                    listed = ", ".join(ANY_NAME.findall(listed + tail))
                    tail = ANY_NAME.sub(HOLE, tail)
                if listed:
                    try:
                        # This fast way requires exactly one blank after each comma.
                        operands = tuple(map(register_of, listed.split(", ")))
                    except NotPlain:
                        operands = tuple([names[name.strip()] for name in listed.split(",")])
                found = shapes.get((head, tail))
                if found is None:
                    remembered = _MEMORY.shapes.get((head, tail))
                    if remembered is None and not tail:
                        remembered = _MEMORY.constant(head)
                        self._sure.add(remembered)
                    given = tuple(map(type_of, operands))
                    if remembered is None or given != remembered.operand_types:
                        has_place = len(body.numbers) in body.places
                        start = self._source.line_start(line) + len(before)
                        place_in_text = start, start + sum(map(len, row[3:6]))
                        remembered = self._read_shape(
                            place_in_text, listed, operands, types, has_place=has_place
                        )
                    found = shapes[head, tail] = remembered, len(self._table)
                    self._table.append(remembered)
                    if not remembered.is_return and not remembered.region_count:
                        self._contents.append(remembered)
                shape, number = found
            if tuple(map(type_of, operands)) != shape.operand_types:
                raise NotPlain
            if shape.region_count:
                place = FilePlace("", line, len(before) + 1)
                if known is not None and written is not None:
                    regions = self._like(known, written, place)
                else:
                    regions = self._read_regions(inside, shape, listed, place)
                    if written is not None:
                        self._lines[written.key] = _line(written, (shape, number), listed, regions)
                body.regions[len(body.numbers)] = regions
            results = shape.result_types
            if result:
                if more or len(results) != 1:
                    name_results(result + more, len(results), names, len(types))
                elif result in names:
                    raise NotPlain
                else:
                    names[result] = len(types)
            elif shape.is_return:
                # `_ROW` accepts invalid names. One search through all names of a body is fast.
                if NO_NAME.search(" ".join(names)):
                    raise NotPlain
                body.returned = operands
                _check_return(body, shape.operand_types)
                return
            types += results
            add_number(number)
            add_operands(operands)
            add_line(line)
            add_column(len(before) + 1)
        raise NotPlain

    def _read_regions(
        self, rows: Iterator[tuple[int, Row]], shape: Shape, listed: str, place: FilePlace
    ) -> tuple[Body, ...]:
        """Read the regions of an operation, up to the line with the last brace.

        `listed` contains the names of the operation's operands.
        """
        names = [name.strip() for name in listed.split(",")]
        arguments = _Registers(
            {names[index]: number for number, index in enumerate(shape.arguments)}
        )
        if len(arguments) < len(shape.arguments) or any("#" in name for name in arguments):
            raise NotPlain
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise NotPlain
        types = tuple([shape.operand_types[index] for index in shape.arguments])
        regions: list[Body] = []
        closer = "}else{"
        while len(regions) < shape.region_count:
            region = Body("", types, (), place.line, place.column, types, self._table, shape)
            regions.append(region)
            if closer == "}else{":
                with deep_stack():
                    self._read_body(rows, region, _Registers(arguments), list(types))
                region.end_line, closer = next_closer(rows)
            elif not isinstance(shape.operation, IfOp) or shape.result_types:
                raise NotPlain  # only an `if` without results may omit a region
        self._nesting -= 1
        if closer != "}":
            raise NotPlain
        self._contents += (shape, *regions)
        return tuple(regions)

    def _like(self, line: _Line, written: _Names, place: FilePlace) -> tuple[Body, ...]:
        """Return the regions of a line that differs only in names from an earlier line."""
        if self._nesting >= MAX_NESTING:
            raise NotPlain
        regions = []
        for like, columns in zip(line.regions, line.columns, strict=True):
            region = Body(
                "",
                like.argument_types,
                like.result_types,
                place.line,
                place.column,
                like.register_types,
                like.table,
                line.shape,
                numbers=like.numbers,
                operands=like.operands,
                lines=array("i", [place.line] * len(columns)),
                columns=array("i", [others + written.ends[count] for count, others in columns]),
                returned=like.returned,
                end_line=place.line if like.end_line else 0,
                like=like,
            )
            regions.append(region)
        self._contents += (line.shape, *regions)
        return tuple(regions)

    def _read_shape(
        self,
        span: tuple[int, int],
        listed: str,
        operands: Sequence[int],
        types: Sequence[Attribute],
        *,
        has_place: bool,
    ) -> Shape:
        """Return the shape of the operation in this span of the source."""
        names = [name.strip()[1:] for name in listed.split(",")] if listed else []
        known = [(name, types[register]) for name, register in zip(names, operands, strict=True)]
        try:
            operation = self._parser.operation_at(*span, known)
        except Exception as problem:  # any exception from xDSL's parser; the full parser reports it
            raise NotPlain from problem
        if operation is None or not _is_plain(operation):
            raise NotPlain
        read = source_span(operation)
        if read is None or (read.explicit is not None) is not has_place:
            raise NotPlain
        # Later programs reuse the shape, so it must not keep this source alive.
        operation.location = UNKNOWN_LOC
        operand_types = _MEMORY.same([value.type for value in operation.operands])
        result_types = _MEMORY.same([value.type for value in operation.results])
        if isinstance(operation, BodyOp):
            return _head_shape(operation, operand_types, result_types)
        return Shape(operation, operand_types, result_types, type(operation) is ReturnOp)

    def _check(self, functions: Sequence[Body]) -> None:
        """Check that functions have different names, and that all operations are valid.

        Raises:
            NotPlain: if the check fails.
        """
        if len({one.name for one in functions}) < len(functions):
            raise NotPlain
        known = _MEMORY.shapes
        unchecked = [
            shape.operation
            for key, (shape, _) in self._shapes.items()
            if not shape.region_count  # `_head_shape` has checked the other shapes
            and shape not in self._sure
            and (known.get(key) is not shape or isinstance(shape.operation, CallingOp))
        ]
        if not unchecked:
            return
        symbols: dict[str, Operation] = {
            one.name: FuncOp.external(one.name, one.argument_types, one.result_types)
            for one in functions
        }
        if any(check_operation(operation, symbols) for operation in unchecked):
            raise NotPlain


def _names_of(row: Row) -> _Names | None:
    """Return the names in an operation and its regions, or None.

    The result is None if lines that differ only in names may differ in meaning.
    """
    before, _, more, head, listed, tail, _ = row
    line = f"{before}{head}{listed}{tail}"
    if more or len(line) > MAX_LINE or '"' in line or "#" in line:
        return None
    pieces = ANY_NAME.split(line)
    names = pieces[1::2]
    if NO_NAME.search(" ".join(names)):
        return None
    ends = [*accumulate(map(len, names), initial=0)]
    # The key has the pattern of repeated names, so that `%a, %a` differs from `%a, %b`.
    return _Names(names, ends, (tuple(map(names.index, names)), *pieces[::2]))


def _line(written: _Names, found: _Known, listed: str, regions: tuple[Body, ...]) -> _Line:
    """Return the part of a line's result that lines with the same key share."""
    names, ends, (_, *others) = written
    lengths = accumulate(map(len, others))
    starts = [length + end for length, end in zip(lengths, ends, strict=True)]
    columns = []
    for region in regions:
        counts = [bisect_left(starts, column - 1) for column in region.columns]
        columns.append(
            tuple([(n, c - ends[n]) for n, c in zip(counts, region.columns, strict=True)])
        )
    operands = [names.index(name.strip()) for name in listed.split(",") if listed]
    return _Line(*found, tuple(operands), regions, tuple(columns))


def _head_shape(operation: BodyOp, operand_types: Types, result_types: Types) -> Shape:
    """Take over an operation with empty regions as a shape. The caller must not use it afterward.

    Raises:
        NotPlain: if the operation is invalid.
    """
    try:
        operation.verify_()
    except VerifyException as problem:
        raise NotPlain from problem
    arguments = tuple(operation.body_positions(len(operand_types)))
    count = len(operation.regions)
    operation.regions = ()
    return Shape(operation, operand_types, result_types, False, count, arguments)


def _split_location(head: str, tail: str) -> tuple[str, str, FilePlace | None]:
    """Return a line without its final `loc("file":1:2)`, and the place of that location.

    The location may start in the head.
    """
    if head.endswith("loc("):
        head, tail = head[:-4], f"loc({tail}"
    start = tail.rfind("loc(")
    match = _LOCATION.fullmatch(tail, max(start, 0))
    if match is None:
        return head, tail, None
    return head, tail[:start].rstrip(), FilePlace(match[1], int(match[2]), int(match[3]))


def _check_return(body: Body, types: Types) -> None:
    """Check that a body may return values of these types.

    Raises:
        NotPlain: if the check fails.
    """
    if body.owner is None:
        if types != body.result_types:
            raise NotPlain
        return
    operation = body.owner.operation
    assert isinstance(operation, BodyOp)
    if not operation.accepts_return(types):
        raise NotPlain
    body.result_types = types


def _check_sync_return(function: Body) -> None:
    """Check that a sync function returns only values that it defines itself, each at most once.

    Raises:
        NotPlain: if the check fails.
    """
    returned = function.returned
    is_twice = len(set(returned)) < len(returned)
    if function.is_sync and (
        is_twice or any(register < function.argument_count for register in returned)
    ):
        raise NotPlain


def _is_plain(operation: Operation) -> bool:
    """Return whether an operation's validity depends only on its line, callees, and regions."""
    if isinstance(operation, BodyOp):
        return not (operation.attributes or isinstance(operation, JitOp))
    if not isinstance(operation, KernelOp | UnknownOp | CallingOp | ReturnOp):
        return False
    return not operation.regions and not operation.successors
