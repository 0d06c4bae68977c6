"""A plain program without an IR: its statements as numbers over the few kinds of lines that it has.

A large program is many lines that differ only in names:

    %v1 = tfrt.add.i32 %v0, %one
    %v2 = tfrt.add.i32 %v1, %one

A `Shape` is what is left without the names of results and operands.  The parser reads the first line
of each shape, and what it made of it holds for all of them, once the operands have the same types.
Only programs in which every line is a function's head, a plain operation, a return or a brace are read
so.  Of any other one, be it wrong or only out of the ordinary, nothing is said here but that it is not
plain: then `parse_module` reads it, from the start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.catalog import UnknownOp
from tfrt_nb.dialects.control_flow import CallOp, ReturnOp
from tfrt_nb.dialects.kernel_op import KernelOp
from tfrt_nb.source.parser import SourceParser
from tfrt_nb.source.statements import NAME
from tfrt_nb.source.text import SourceText

Types: TypeAlias = tuple[Attribute, ...]

_ROW = re.compile(
    r"""([ \t]* (?: (%[\w$.-]+) [ ]* ([^=\n ][^=\n]*)? =[ ]* )?)
    (?: ([A-Za-z_"][^%\n\r/]*) (%[\w$.\#-]+(?:,[ ]*%[\w$.\#-]+)*)? ([^%\n\r/]*)
        (?://[^\n]*)? (?=\n)
      | ([^\n]*) ) \n""",
    re.ASCII | re.VERBOSE,
)
"""A line: all that stands before the operation, its first result, what names further ones; the operation
up to its operands, these, the rest.  Or, of a line of another form, what stands behind its indentation.
What is taken for the name of a result need not be one.  No possessive quantifiers: in the first
releases of Python 3.11 they forget to give back what a group took in vain."""

_HEAD = re.compile(
    r"""[ \t]* func(?:\.func)?[ ]+ (?:(?:private|public)[ ]+)? @([A-Za-z_][\w$.]*) \( ([^()\n/]*) \)
    (?: [ ]*->[ ]* (?: \( ([^()\n/]*) \) | ([^\s(),/{]+) ) )?
    ([ ]* attributes[ ]+\{[ ]*tfrt\.sync[ ]*\})? [ ]* \{ [ \t]*(?://[^\n]*)? \n""",
    re.ASCII | re.VERBOSE,
)
_ARGUMENT = re.compile(rf"\s*({NAME})[ ]*:[ ]*([^\s,][^,]*?)\s*(?:,(?=.)|$)", re.ASCII)
_COMMENT_OR_NOTHING = re.compile(r"\s*(?://.*)?", re.ASCII)
_RESULT = re.compile(rf"({NAME})(?:[ ]*:[ ]*([1-9][0-9]{{0,5}}))?", re.ASCII)
_NO_NAME = re.compile(r"%[0-9]+[^0-9 #]", re.ASCII)
_END = re.compile(r"\}[ \t]*(?://.*)?", re.ASCII)

_CHUNK = 1 << 14
_Row = tuple[str, str, str, str, str, str, str]


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """What lines that differ only in names have in common; `operation` is that of the first one."""

    operation: Operation
    operand_types: Types
    result_types: Types
    is_return: bool


@dataclass(slots=True)
class PlainFunction:
    """A function.  Its registers are its arguments, then its results in the order of the text.

    `shapes`, `operands` (registers), `lines` and `columns` have an entry per operation without the
    return, whose operands are `returned`.  `line` and `column` are where the function starts.
    `register_types` has an entry per register.
    """

    name: str
    argument_types: Types
    result_types: Types
    line: int
    column: int
    is_sync: bool
    register_types: list[Attribute]
    shapes: list[Shape] = field(default_factory=list)
    operands: list[tuple[int, ...]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    returned: tuple[int, ...] = ()

    @property
    def argument_count(self) -> int:
        """How many registers the function finds when it starts."""
        return len(self.argument_types)


def read_plain(source: SourceText) -> list[PlainFunction] | None:
    """The functions of a text that is a plain program and right; None for any other one."""
    try:
        return _Reader(source).read()
    except Exception:  # noqa: BLE001
        # xDSL's parsers and checks raise all kinds; the full reader reports it.
        return None


class _NotPlain(Exception):
    """Something else has to read this text."""


class _Reader:
    """Reads one text."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._parser = SourceParser(source)
        self._shapes: dict[tuple[str, str], Shape] = {}
        self._types: dict[Attribute, Attribute] = {}

    def read(self) -> list[PlainFunction]:
        """The functions.

        Raises:
            Exception: the text is not plain, or wrong.
        """
        rows = enumerate(chain.from_iterable(_chunks(self._source.text)), 1)
        functions: list[PlainFunction] = []
        for line, row in rows:
            if not _is_nothing(row):
                function, names = self._read_head(line)
                self._read_body(rows, function, names)
                functions.append(function)
        self._check_symbols(functions)
        return functions

    def _read_head(self, line: int) -> tuple[PlainFunction, dict[str, int]]:
        """The function whose head is in this line, and the registers of its arguments."""
        start = self._source.line_start(line)
        match = _HEAD.match(self._source.text, start)
        if match is None:
            raise _NotPlain
        names: dict[str, int] = {}
        types: list[Attribute] = []
        position, end = match.span(2)
        while position < end:
            argument = _ARGUMENT.match(self._source.text, position, end)
            if argument is None or argument[1] in names:
                raise _NotPlain
            argument_type = self._parser.type_at(argument[2], argument.start(2))
            if argument_type is None:
                raise _NotPlain
            names[argument[1]] = len(types)
            types += self._same((argument_type,))
            position = argument.end()
        group = 3 if match[3] is not None else 4
        results = self._read_types(match[group] or "", match.start(group))
        column = match.start() + len(match[0]) - len(match[0].lstrip()) - start + 1
        is_sync = match[5] is not None
        return PlainFunction(match[1], tuple(types), results, line, column, is_sync, types), names

    def _read_types(self, text: str, position: int) -> Types:
        listed = text.strip()
        if not listed:
            return ()
        types = self._parser.types_at(listed, position + text.index(listed))
        if types is None:
            raise _NotPlain
        return self._same(types)

    def _same(self, types: Sequence[Attribute]) -> Types:
        """These types, those that are equal being the same object."""
        known = self._types
        return tuple([known.setdefault(type_, type_) for type_ in types])

    def _read_body(
        self, rows: Iterator[tuple[int, _Row]], function: PlainFunction, names: dict[str, int]
    ) -> None:
        """Read the lines of a function, and the one with its brace."""
        shapes, types = self._shapes, function.register_types
        add_shape, add_operands = function.shapes.append, function.operands.append
        add_line, add_column = function.lines.append, function.columns.append
        for line, (before, result, more, head, listed, tail, other) in rows:
            if not head:
                if result or not _COMMENT_OR_NOTHING.fullmatch(other):
                    raise _NotPlain
                continue
            operands: tuple[int, ...] = ()
            if listed:
                try:
                    operands = tuple([names[name] for name in listed.split(", ")])
                except KeyError:
                    operands = tuple([names[name.strip()] for name in listed.split(",")])
            shape = shapes.get((head, tail))
            if shape is None:
                shape = self._read_shape(line, len(before), listed, operands, types)
                shapes[head, tail] = shape
            if tuple([types[register] for register in operands]) != shape.operand_types:
                raise _NotPlain
            results = shape.result_types
            if result:
                if more or len(results) != 1:
                    _name_results(result + more, len(results), names, len(types))
                elif result in names:
                    raise _NotPlain
                else:
                    names[result] = len(types)
            elif shape.is_return:
                if _NO_NAME.search(" ".join(names)) or shape.operand_types != function.result_types:
                    raise _NotPlain
                function.returned = operands
                _check_sync_return(function)
                return _read_brace(rows)
            types += results
            add_shape(shape)
            add_operands(operands)
            add_line(line)
            add_column(len(before) + 1)
        raise _NotPlain

    def _read_shape(
        self,
        line: int,
        column: int,
        listed: str,
        operands: Sequence[int],
        types: Sequence[Attribute],
    ) -> Shape:
        """The shape of the operation that starts `column` characters into a line."""
        start = self._source.line_start(line)
        names = [name.strip()[1:] for name in listed.split(",")] if listed else []
        known = [(name, types[register]) for name, register in zip(names, operands, strict=True)]
        end = self._source.text.find("\n", start)
        operation = self._parser.operation_at(
            start + column, len(self._source.text) if end < 0 else end, known
        )
        if operation is None or not _is_plain(operation):
            raise _NotPlain
        operation.verify_()
        operand_types = [value.type for value in operation.operands]
        result_types = [value.type for value in operation.results]
        is_return = type(operation) is ReturnOp
        return Shape(operation, self._same(operand_types), self._same(result_types), is_return)

    def _check_symbols(self, functions: Sequence[PlainFunction]) -> None:
        """Functions have names of their own, and calls are calls of functions that there are.

        Raises:
            _NotPlain: else.
        """
        known = {function.name: function for function in functions}
        if len(known) < len(functions):
            raise _NotPlain
        for shape in self._shapes.values():
            if isinstance(shape.operation, CallOp):
                for symbol in shape.operation.callee_symbols():
                    callee = known.get(symbol.root_reference.data)
                    if (
                        callee is None
                        or symbol.nested_references.data
                        or callee.argument_types != shape.operand_types
                        or callee.result_types != shape.result_types
                    ):
                        raise _NotPlain


def _check_sync_return(function: PlainFunction) -> None:
    """A sync function returns what it made, and each of it once.

    Raises:
        _NotPlain: else.
    """
    returned = function.returned
    is_twice = len(set(returned)) < len(returned)
    if function.is_sync and (
        is_twice or any(register < function.argument_count for register in returned)
    ):
        raise _NotPlain


def _is_plain(operation: Operation) -> bool:
    """Whether only the operation's own line, and its callee, decide if it is right."""
    if not isinstance(operation, KernelOp | UnknownOp | CallOp | ReturnOp):
        return False
    return not operation.regions and not operation.successors


def _name_results(text: str, count: int, names: dict[str, int], first: int) -> None:
    """Name `count` results, the first of which has register `first`, as in `%a, %r:2`."""
    register = first
    for part in text.split(","):
        match = _RESULT.fullmatch(part.strip(" "))
        if match is None or match[1] in names:
            raise _NotPlain
        name, size = match[1], int(match[2] or 1)
        names[name] = register
        if match[2] is not None:
            names |= {f"{name}#{index}": register + index for index in range(min(size, count))}
        register += size
    if register != first + count:
        raise _NotPlain


def _chunks(text: str) -> Iterator[list[_Row]]:
    """The lines of a text, some hundred at a time: a program that is not plain is soon found out."""
    start = 0
    if not text.endswith("\n"):
        text += "\n"
    while start < len(text):
        end = text.find("\n", start + _CHUNK) + 1 or len(text)
        yield _ROW.findall(text, start, end)
        start = end


def _read_brace(rows: Iterator[tuple[int, _Row]]) -> None:
    """Read the line with the brace, which comes next."""
    for _, row in rows:
        if not _is_nothing(row):
            if _END.fullmatch("".join(row[1:])):
                return
            break
    raise _NotPlain


def _is_nothing(row: _Row) -> bool:
    """Whether there is nothing in the line, or a comment."""
    return _COMMENT_OR_NOTHING.fullmatch("".join(row[1:])) is not None
