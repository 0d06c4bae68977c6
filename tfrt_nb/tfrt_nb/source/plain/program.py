"""A plain program: shapes, bodies, and the names and places that its text has."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TypeAlias

from xdsl.ir import Attribute, Operation

from tfrt_nb.source.plain.rows import ANY_NAME, NAME, TAIL, parts, row_of
from tfrt_nb.source.spans import SourceText
from tfrt_runtime.bef.locations import FilePlace

Types: TypeAlias = tuple[Attribute, ...]
Name: TypeAlias = tuple[str, int, int]
"""A name as the text has it, "" for none, and where it starts and ends."""
HEAD = re.compile(
    r"""[ \t]* func(?:\.func)?[ ]+ (?:(private|public)[ ]+)? @([A-Za-z_][\w$.]*) \( ([^()\n/]*) \)
    (?: [ ]*->[ ]* (?: \( ([^()\n/]*) \) | ([^\s(),/{]+) ) )?
    ([ ]* attributes[ ]+\{[ ]*tfrt\.sync[ ]*\})? [ ]* \{ [ \t]*(?://[^\n]*)? \n""",
    re.ASCII | re.VERBOSE,
)
ARGUMENT = re.compile(rf"\s*({NAME})[ ]*:[ ]*([^\s,][^,]*?)\s*(?:,(?=.)|$)", re.ASCII)
RESULT = re.compile(rf"({NAME})(?:[ ]*:[ ]*([1-9][0-9]{{0,5}}))?", re.ASCII)


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """What lines that differ only in names have in common; `operation` is that of the first one,
    without its place.

    Programs share shapes, so that their operations are never changed. The arguments of its regions,
    which `operation` is without, have the names and the types of the operands that `arguments`
    lists.
    """

    operation: Operation
    operand_types: Types
    result_types: Types
    is_return: bool
    region_count: int = 0
    arguments: tuple[int, ...] = ()


def _numbers() -> array[int]:
    return array("i")


@dataclass(slots=True)
class Body:
    """The body of a function, or of a region, which has no `name`.

    Its registers are its arguments, then its results in the order of the text. `owner` is the
    operation of a region; a function has none.  `end_line` has the brace, and is 0 for a region
    that the text leaves out. `numbers`, `lines` and `columns` have an entry per operation without
    the return, whose operands are `returned`; a number is the place of its shape in `table`, which
    the bodies of a text share. `operands` has the registers of all operations, end to end.
    `regions` and `places` (what `loc(...)` says) have an entry for those operations that have
    some.  `line` and `column` are where the function or the region's operation starts.
    `register_types` has an entry per register. `like` is a region of an earlier line, which has all
    of this but the places.
    """

    name: str
    argument_types: Types
    result_types: Types
    line: int
    column: int
    register_types: Sequence[Attribute]
    table: Sequence[Shape]
    owner: Shape | None = None
    is_sync: bool = False
    is_private: bool = False
    numbers: array[int] = field(default_factory=_numbers)
    operands: array[int] = field(default_factory=_numbers)
    lines: array[int] = field(default_factory=_numbers)
    columns: array[int] = field(default_factory=_numbers)
    regions: dict[int, tuple[Body, ...]] = field(default_factory=dict)
    places: dict[int, FilePlace] = field(default_factory=dict)
    returned: tuple[int, ...] = ()
    end_line: int = 0
    like: Body | None = None

    @property
    def shapes(self) -> list[Shape]:
        """The shape of each operation."""
        return [self.table[number] for number in self.numbers]

    def operand_lists(self) -> list[tuple[int, ...]]:
        """The operands of each operation."""
        operands, table = tuple(self.operands), self.table
        counts = {number: len(table[number].operand_types) for number in set(self.numbers)}
        ends = accumulate(map(counts.__getitem__, self.numbers), initial=0)
        return [operands[at:end] for at, end in pairwise(ends)]

    @property
    def argument_count(self) -> int:
        """How many registers the function finds when it starts."""
        return len(self.argument_types)


@dataclass(frozen=True, slots=True)
class PlainProgram:
    """A text as numbers over the shapes of its lines.

    `contents` has each shape when its first line is over, and each body when it ends: the order in
    which a BEF file has kernels and functions.
    """

    source: SourceText
    contents: Sequence[Shape | Body]

    @property
    def bodies(self) -> list[Body]:
        """The functions and regions, in the order of a file."""
        return [one for one in self.contents if isinstance(one, Body)]

    def names(self, body: Body) -> list[Name]:
        """What the text calls each register of a body."""
        text, found = self.source.text, self._argument_names(body)
        for shape, line, column in zip(body.shapes, body.lines, body.columns, strict=True):
            count = len(shape.result_types)
            if not count:
                continue
            start = self.source.line_start(line)
            names: list[Name] = []
            if text.find("{", start, start + column - 1) >= 0:
                start = self._part(line, column)[0]
                end = self.source.line_start(line) + column - 1
            else:
                end = start + column - 1
            for match in RESULT.finditer(text, start, end):
                name, place = match[1], match.span(1)
                if match[2] is None:
                    names.append((name, *place))
                else:
                    names += [(f"{name}#{index}", *place) for index in range(int(match[2]))]
            found += names or [("", start, start)] * count
        return found

    def _argument_names(self, body: Body) -> list[Name]:
        text, start = self.source.text, self.source.line_start(body.line)
        if body.owner is not None and not body.end_line:
            return [("", start, start)] * body.argument_count
        if body.owner is not None:
            end = text.index("\n", start)
            operands = list(ANY_NAME.finditer(text, start + body.column - 1, end))
            matches = [operands[index] for index in body.owner.arguments]
            return [(match[0], *match.span()) for match in matches]
        head = HEAD.match(text, start)
        assert head is not None, "it was read"
        return [(match[1], *match.span(1)) for match in ARGUMENT.finditer(text, *head.span(3))]

    def extent(self, body: Body, index: int) -> tuple[int, int]:
        """Where an operation with the names of its results starts, and where its line or its head
        ends.
        """
        first, row = self._part(body.lines[index], body.columns[index])
        line = row[0][: row.end(TAIL)].rstrip()
        if index in body.regions:
            line = line.removesuffix("{").rstrip()
        return first + len(line) - len(line.lstrip()), first + len(line)

    def _part(self, line: int, column: int) -> tuple[int, re.Match[str]]:
        """Where the part of a line starts that has the operation in a column, and that as a row."""
        start = self.source.line_start(line)
        end = self.source.text.find("\n", start)
        row = row_of(self.source.text[start : len(self.source.text) if end < 0 else end])
        for first, part in parts(row[0][: row.end(TAIL)]) or ():
            if column <= first + len(part):
                return start + first, row_of(part)
        return start, row
