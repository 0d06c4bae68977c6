"""The rows of a plain program, one per line, and the shapes and bodies that are read from them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias, cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.catalog import UnknownOp
from tfrt_nb.dialects.kernel_op import KernelOp
from tfrt_nb.dialects.tables.signatures import Form
from tfrt_nb.source.spans import SourceText
from tfrt_runtime.bef.locations import FilePlace


class NotPlain(Exception):
    """Signals that the source is not plain, so the parser must read it."""


NAME = r"%(?:[0-9]+(?![\w$.-])|[A-Za-z$._-][\w$.-]*)"
Row: TypeAlias = tuple[str, str, str, str, str, str, str]
"""A line or a part of a line, as the groups of `_ROW`."""
_ROW = re.compile(
    r"""([ \t]* (?: (%[\w$.-]+) [ ]* ([^=\n ][^=\n]*)? =[ ]* )?)
    (?: ((?: [A-Za-z_] | "[^"\\\n\r]*") [^%\n\r/"]*) (%[\w$.\#-]+(?:,[ ]*%[\w$.\#-]+)*)?
        ([^\n\r/"]*(?:"[^"\\\n\r]*"[^\n\r/"]*)*)
        (?://[^\n]*)? (?=\n)
      | ([^\n]*) ) \n""",
    re.ASCII | re.VERBOSE,
)
"""Matches a line.

For an operation, the groups are: everything before the operation, its first result, the names of
the other results, the operation up to its operands, the operands, and the rest. For any other line,
one group has everything after the indentation. The pattern does not check whether a result's name
is valid. It must not have possessive quantifiers, because in the first releases of Python 3.11,
these do not backtrack over a group's failed match.
"""
ANY_NAME = re.compile(r"(%[\w$.\#-]+)", re.ASCII)
HOLE = "\r"
"""The placeholder for a name in the rest of a line. No line contains this character."""
COMMENT_OR_NOTHING = re.compile(r"\s*(?://.*)?", re.ASCII)
_CLOSER = re.compile(r"[ \t]+|//.*", re.ASCII)
"""Matches the blanks and the comment of a line that closes a body, which are ignored."""
_IN_ONE_LINE = re.compile(
    r"([^{}\n]*\{) ([^{}\"\n]*) (?: (\}[ ]*else[ ]*\{) ([^{}\"\n]*) )? (\})[ \t]*",
    re.ASCII | re.VERBOSE,
)
"""Matches an operation with regions that contain neither braces nor strings."""
_NEXT = re.compile(
    rf"(?<=[^\s,])[ \t]+ (?= {NAME}(?:[ ]*:[ ]*[0-9]+)? (?:,[ ]*{NAME}(?:[ ]*:[ ]*[0-9]+)?)* [ ]*="
    r" | (?:(?:tfrt|hex)\.)?return\b )",
    re.ASCII | re.VERBOSE,
)
"""Matches the separator before each operation of a one-line region, except the first operation."""
NO_NAME = re.compile(r"%[0-9]+[^0-9 #]", re.ASCII)
"""Matches a list of names, separated by blanks, that contains an invalid name."""
MAX_LINE = 2_000
"""The maximum length, in characters, of a line whose regions are split."""
_CHUNK = 1 << 14
TAIL = 6
"""The number of the last group of `_ROW` that belongs to an operation."""
Types: TypeAlias = tuple[Attribute, ...]
Key: TypeAlias = tuple[str, str]
"""The head and the rest of a line, both without names."""
MAX_REMEMBERED = 1024
"""The maximum number of shapes and types that are kept for later sources."""
Name: TypeAlias = tuple[str, int, int]
"""A name in its source spelling, or "", with its start and end."""
HEAD = re.compile(
    r"""[ \t]* func(?:\.func)?[ ]+ (?:(private|public)[ ]+)? @([A-Za-z_][\w$.]*) \( ([^()\n/]*) \)
    (?: [ ]*->[ ]* (?: \( ([^()\n/]*) \) | ([^\s(),/{]+) ) )?
    ([ ]* attributes[ ]+\{[ ]*tfrt\.sync[ ]*\})? [ ]* \{ [ \t]*(?://[^\n]*)? \n""",
    re.ASCII | re.VERBOSE,
)
ARGUMENT = re.compile(rf"\s*({NAME})[ ]*:[ ]*([^\s,][^,]*?)\s*(?:,(?=.)|$)", re.ASCII)
CONSTANT = re.compile(r"([\w.]+[ ])(0|[1-9][0-9]{0,18})", re.ASCII)
RESULT = re.compile(rf"({NAME})(?:[ ]*:[ ]*([1-9][0-9]{{0,5}}))?", re.ASCII)


def rows_of(text: str) -> Iterator[tuple[int, Row]]:
    """Yield the lines of a source with their numbers.

    The function matches about a hundred lines at a time, so that it notices early if a program is
    not plain.
    """
    start, line = 0, 1
    while start < len(text):
        end = text.find("\n", start + _CHUNK) + 1 or len(text)
        chunk = text[start:end]
        rows = _ROW.findall(chunk if chunk.endswith("\n") else chunk + "\n")
        yield from enumerate(rows, line)
        line += len(rows)
        start = end


def row_of(text: str) -> re.Match[str]:
    """Match a line, or a part of a line, as a row."""
    row = _ROW.match(text + "\n")
    assert row is not None, "every line is one"
    return row


def apart(line: int, row: Row) -> list[tuple[int, Row]]:
    """Return the row or, if it has regions, the rows of its parts.

    The parts are padded so that columns stay the same.
    """
    before, _, _, *rest = row
    found: list[tuple[int, Row]] = []
    for start, part in parts(before + "".join(rest)) or ():
        before, *rest = row_of(part).groups("")
        found.append((line, cast(Row, (" " * start + before, *rest))))
    return found or [(line, row)]


def parts(line: str) -> list[tuple[int, str]] | None:
    """Split a one-line operation with regions into its head, operations, and braces.

    Each part comes with its start. Return None for any other line.
    """
    match = _IN_ONE_LINE.fullmatch(line) if len(line) <= MAX_LINE else None
    if match is None:
        return None
    found = [(0, match[1])]
    for body, closer in ((2, 3), (4, 5)):
        start, end = match.span(body)
        while 0 <= start < end:
            cut = _NEXT.search(line, start + 1, end)
            last = end if cut is None else cut.start()
            found.append((start, line[start:last]))
            start = last
        if match[closer]:
            found.append((match.start(closer), match[closer]))
    return found


def next_closer(rows: Iterator[tuple[int, Row]]) -> tuple[int, str]:
    """Return the number of the next line, and the line's text without blanks.

    The line must close a body, so the text is `}` or `}else{`.
    """
    for line, row in rows:
        if not is_nothing(row):
            return line, _CLOSER.sub("", "".join(row[1:]))
    raise NotPlain


def is_nothing(row: Row) -> bool:
    """Return whether the line is empty or has only a comment."""
    return COMMENT_OR_NOTHING.fullmatch("".join(row[1:])) is not None


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """The common part of lines that differ only in names.

    `operation` is the operation of the first such line, without its place and its regions. Programs
    share shapes, so `operation` must never be changed. The arguments of its regions have the names
    and types of the operands whose indices are in `arguments`.
    """

    operation: Operation
    operand_types: Types
    result_types: Types
    is_return: bool
    region_count: int = 0
    arguments: tuple[int, ...] = ()


class Memory:
    """Results of reading valid plain sources, which later sources reuse.

    Any thread may use the object.
    """

    def __init__(self) -> None:
        self.shapes: dict[Key, Shape] = {}
        self.lists: dict[str, Types] = {}
        """Lists of types, by their source text."""
        self._types: dict[Attribute, Attribute] = {}
        # Maps the text before the number to the shape of a constant.
        self._constants: dict[str, Shape] = {}

    def learn(self, shapes: Mapping[Key, Shape], lists: Mapping[str, Types]) -> None:
        """Remember the contents of a source.

        Long lines, and lines whose meaning depends on other sources, are left out.
        """
        if len(self.shapes) + len(self.lists) + len(self._types) > MAX_REMEMBERED:
            self.shapes, self.lists, self._types, self._constants = {}, {}, {}, {}
        lasting = (item for item in shapes.items() if _is_lasting(*item))
        self.shapes.update(islice(lasting, MAX_REMEMBERED))
        for (head, tail), shape in shapes.items():
            match = None if tail else CONSTANT.fullmatch(head)
            if match and match[1] not in self._constants and _is_constant(shape.operation):
                self._constants[match[1]] = shape
        short = (item for item in lists.items() if len(item[0]) <= MAX_LINE)
        self.lists.update(islice(short, MAX_REMEMBERED))

    def constant(self, head: str) -> Shape | None:
        """Return the shape of a constant that differs from a valid one only in its number, or None.

        Such a constant is also valid. The shortcut is worthwhile, because programs contain many
        numbers, and parsing one number takes as long as reading a hundred known lines.
        """
        match = CONSTANT.fullmatch(head)
        like = None if match is None else self._constants.get(match[1])
        if match is None or like is None:
            return None
        ((name, number),) = like.operation.attributes.items()
        assert isinstance(number, IntegerAttr)
        assert isinstance(number.type, IntegerType)
        value = int(match[2])
        # The number is too large, or it is negative and written in another way.
        if value >> number.type.width.data - 1:
            return None
        attributes = {name: IntegerAttr(value, number.type)}
        operation = like.operation.create(result_types=like.result_types, attributes=attributes)
        return Shape(operation, (), like.result_types, False)

    def same(self, types: Sequence[Attribute]) -> Types:
        """Return these types as a tuple in which equal types are the same object."""
        known = self._types
        return tuple([known.setdefault(type_, type_) for type_ in types])


def _is_constant(operation: Operation) -> bool:
    """Return whether the operation's only attribute is an integer that may have any value."""
    if not isinstance(operation, KernelOp) or operation.signature.form is not Form.CONSTANT:
        return False
    types = [one.type for one in operation.attributes.values() if isinstance(one, IntegerAttr)]
    is_integer = len(types) == len(operation.attributes) == 1 and isinstance(types[0], IntegerType)
    return is_integer and operation.is_plainly_right()


def _is_lasting(key: Key, shape: Shape) -> bool:
    """Return whether a line is short, and its text alone determines its meaning.

    A call of a user's kernel does not qualify, because the kernel's annotations may change later.
    """
    head, tail = key
    is_short_form = not head.startswith('"')
    hangs_on_annotations = is_short_form and isinstance(shape.operation, UnknownOp)
    return len(head) + len(tail) <= MAX_LINE and not hangs_on_annotations


def _numbers() -> array[int]:
    return array("i")


@dataclass(slots=True)
class Body:
    """The body of a function, or of a region, which has no `name`.

    The registers of a body are its arguments, followed by the results of its operations in source
    order.

    - `line` and `column` are the start of the function or of the region's operation. `end_line` is
      the line of the closing brace, or 0 for a region that the source omits.
    - `owner` is the operation that has the region, or None for a function.
    - `table` contains the shapes that the bodies of a source share. `register_types` contains an
      entry per register.
    - `numbers`, `lines`, and `columns` have an entry for each operation except the return. A number
      is the index of the operation's shape in `table`. `returned` contains the operands of the
      return.
    - `operands` contains the registers of the operands of all operations, one operation after
      another.
    - `regions` and `places` (from `loc(...)`) have entries only for operations with regions or
      places.
    - `like` is a region of an earlier line that equals this one in everything except places, or
      None.
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

    @property
    def argument_count(self) -> int:
        """The number of registers that hold the arguments."""
        return len(self.argument_types)


@dataclass(frozen=True, slots=True)
class PlainProgram:
    """A source as numbers that refer to the shapes of its lines.

    `contents` contains each shape at its first line, and each body at its end. This is the order of
    kernels and functions in a BEF file.
    """

    source: SourceText
    contents: Sequence[Shape | Body]

    @property
    def bodies(self) -> list[Body]:
        """The functions and regions, in file order."""
        return [one for one in self.contents if isinstance(one, Body)]

    def names(self, body: Body) -> list[Name]:
        """Return the source name of each register of a body."""
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
        """Return the start of an operation, with its results' names, and its end.

        The end is the end of the operation's line or, if it has regions, of its head.
        """
        first, row = self._part(body.lines[index], body.columns[index])
        line = row[0][: row.end(TAIL)].rstrip()
        if index in body.regions:
            line = line.removesuffix("{").rstrip()
        return first + len(line) - len(line.lstrip()), first + len(line)

    def _part(self, line: int, column: int) -> tuple[int, re.Match[str]]:
        """Return the part of a line that has the operation at `column`: its start and its row."""
        start = self.source.line_start(line)
        end = self.source.text.find("\n", start)
        row = row_of(self.source.text[start : len(self.source.text) if end < 0 else end])
        for first, part in parts(row[0][: row.end(TAIL)]) or ():
            if column <= first + len(part):
                return start + first, row_of(part)
        return start, row


def name_results(text: str, count: int, names: dict[str, int], first: int) -> None:
    """Name `count` results, such as `%a, %r:2`. `first` is the register of the first result."""
    register = first
    for part in text.split(","):
        match = RESULT.fullmatch(part.strip(" "))
        if match is None or match[1] in names:
            raise NotPlain
        name, size = match[1], int(match[2] or 1)
        names[name] = register
        if match[2] is not None:
            # The source may state any `size`, but more than `count` names are an error.
            names |= {f"{name}#{index}": register + index for index in range(min(size, count))}
        register += size
    if register != first + count:
        raise NotPlain
