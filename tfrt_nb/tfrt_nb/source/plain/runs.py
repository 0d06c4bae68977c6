"""Runs: many lines side by side that differ in names only from lines that were read before.

A large text is taken apart by a few calls for thousands of lines: the names are cut out, and what is left
of each line, its rest, is looked up.  A line with a new rest goes to the reader as a row, and what that
finds is the line's `Form`, which holds for all lines with the same rest.  So is a whole run read, by column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from xdsl.ir import Attribute

from tfrt_nb.source.plain.program import Body, Shape
from tfrt_nb.source.plain.register_names import RegisterNames
from tfrt_nb.source.plain.rows import ANY_NAME, HOLE, NO_NAME, NotPlain, Row, Run, rows_in, rows_of
from tfrt_runtime.bef.records import Repeated

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tfrt_runtime.bef.columns import Lists

LARGE = 1 << 17
"""A text of so many characters may have runs."""
_FIRST, _CHUNK = 1 << 14, 1 << 17
"""So many characters are taken apart at a time: few at first, where all is new."""
SHORTEST = 64
"""Fewer lines are not a run: the calls for it would take as long as rows."""
_MOST_NEW = 16
"""After so many new rests all lines of a chunk are rows."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a line is besides its names, which are its result's, if it has one, and its operands'.

    `number` is that of its shape, which is None for a line without an operation; `before` counts the
    characters before the operation, without the result's name.
    """

    shape: Shape | None
    number: int
    before: int
    has_result: bool
    operand_count: int

    @property
    def name_count(self) -> int:
        """How many names the line has."""
        return self.has_result + self.operand_count


NOTHING = Form(None, -1, 0, False, 0)


class _Table(NamedTuple):
    """All forms by column; types are numbers."""

    shapes: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]
    has_result: npt.NDArray[np.bool_]
    operand_types: Lists
    result_types: npt.NDArray[np.int32]


def _next(found: list[int | None], at: int) -> int:
    """Where the next None is, the end if there is none."""
    try:
        return found.index(None, at)
    except ValueError:
        return len(found)


class Runs:
    """Takes one text apart, and learns the forms of its lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._forms: list[Form] = []
        self._name_counts: list[int] = []
        self._numbers: dict[str, int] = {}
        """The form of each rest that is known."""
        self.new: str | None = None
        """The rest of the line that the reader has, if that is new."""
        self._columns: _Table | None = None
        self._types: list[Attribute] = []
        self._type_numbers: dict[Attribute, int] = {}
        self._by_identity: dict[int, int] = {}

    def rows(self) -> Iterator[tuple[int, Row | Run]]:
        """The lines of the text with their numbers, those of a run at once."""
        text, position, line = self._text, 0, 1
        size = _FIRST
        as_rows = 8 * _FIRST
        while position < len(text):
            end = text.find("\n", position + size) + 1 or len(text)
            count = text.count("\n", position, end)
            in_runs = 0
            for number, one in self._chunk(text[position:end], line):
                if isinstance(one, Run):
                    in_runs += len(one.forms)
                yield number, one
            position, line = end, line + count
            if 2 * in_runs >= count:
                size = min(2 * size, _CHUNK)
                continue
            # Where few lines are alike the search for them is not worth its time.
            end = text.find("\n", position + as_rows) + 1 or len(text)
            yield from rows_of(text, position, end, line)
            line += text.count("\n", position, end)
            position, as_rows = end, 2 * as_rows

    def _chunk(self, chunk: str, line: int) -> Iterator[tuple[int, Row | Run]]:
        """The lines of a part of the text."""
        if not chunk.endswith("\n"):
            chunk += "\n"
        if "#" in chunk or HOLE in chunk:  # a result of many has more than its name
            yield from enumerate(rows_in(chunk), line)
            return
        pieces = ANY_NAME.split(chunk)
        names = pieces[1::2]
        rests = HOLE.join(pieces[::2]).split("\n")[:-1]
        found = [*map(self._numbers.get, rests)]
        at = name = learned = 0
        lines = chunk.splitlines(keepends=True) if None in found else []
        while at < len(rests):
            end = _next(found, at)
            forms = [number for number in found[at:end] if number is not None]
            count = sum(map(self._name_counts.__getitem__, forms))
            if end - at < SHORTEST or learned > _MOST_NEW:
                end = len(rests) if learned > _MOST_NEW else end
                yield from enumerate(rows_in("".join(lines[at:end])), line + at)
            elif any(self._forms[number] is not NOTHING for number in set(forms)):
                yield line + at, Run(line + at, forms, names[name : name + count])
            if end == len(rests):
                return
            self.new = rests[end]
            yield line + end, rows_in(lines[end])[0]
            name += count + self.new.count(HOLE)
            at = end + 1
            if self.new in self._numbers:
                learned += 1
                found[at:] = map(self._numbers.get, rests[at:])
            self.new = None

    def learn(self, form: Form) -> None:
        """The line that the reader has is of this form, if it has a new rest and no other names."""
        if self.new is not None and self.new.count(HOLE) == form.name_count:
            self._numbers[self.new] = len(self._forms)
            self._forms.append(form)
            self._name_counts.append(form.name_count)
            self._columns = None

    def read(self, run: Run, body: Body, names: RegisterNames, types: list[Attribute]) -> None:
        """Append the operations of a run to a body; `names` and `types` are those of its registers.

        Raises:
            NotPlain: a name is not defined before or is defined twice, or a type is another one.
        """
        import numpy as np

        from tfrt_runtime.bef.columns import starts_of

        table = self._table()
        forms = np.array(run.forms, np.int32)
        is_there = table.shapes[forms] >= 0
        forms, lines = forms[is_there], run.line + np.flatnonzero(is_there)
        has_result, counts = table.has_result[forms], table.operand_types.counts[forms]
        is_result = np.zeros(len(run.names), np.bool_)
        is_result[starts_of(counts + has_result)[has_result]] = True
        defined = [*compress(run.names, is_result.tolist())]
        used = [*compress(run.names, (~is_result).tolist())]
        if NO_NAME.search(" ".join(defined)):
            raise NotPlain
        first = len(types)
        names.define(defined, first)
        operands = names.registers(used)
        next_registers = first + starts_of(has_result.astype(np.int32))
        if (operands >= np.repeat(next_registers, counts)).any():
            raise NotPlain

        self.note_types(body, types)
        result_types = table.result_types[forms[has_result]]
        body.type_numbers.frombytes(result_types.tobytes())
        types += map(self._types.__getitem__, result_types.tolist())
        of_registers = np.frombuffer(body.type_numbers, np.int32)
        if (of_registers[operands] != table.operand_types.taken(forms).numbers).any():
            raise NotPlain

        columns = table.before[forms] + 1
        columns[has_result] += np.fromiter(map(len, defined), np.int32, len(defined))
        body.numbers.frombytes(table.shapes[forms].tobytes())
        body.operands.frombytes(operands.tobytes())
        body.lines.frombytes(lines.astype(np.int32).tobytes())
        body.columns.frombytes(columns.tobytes())

    def note_types(self, body: Body, types: list[Attribute]) -> None:
        """Have a number for the type of each of the registers that the body has by now."""
        body.type_numbers.extend(map(self._type_number, types[len(body.type_numbers) :]))

    def _type_number(self, type_: Attribute) -> int:
        number = self._by_identity.get(id(type_))
        if number is None:
            number = self._type_numbers.setdefault(type_, len(self._types))
            self._by_identity[id(type_)] = number
            # Kept also where it is equal to another one: no other may have its identity.
            self._types.append(type_)
        return number

    def finish(self, body: Body) -> None:
        """A body of which a run was read is over."""
        if body.type_numbers:
            assert isinstance(body.register_types, list)
            self.note_types(body, body.register_types)
            body.register_types = Repeated(self._types, body.type_numbers)

    def _table(self) -> _Table:
        """The forms by column."""
        import numpy as np

        from tfrt_runtime.bef.columns import lists_of

        if self._columns is None:
            shapes = [form.shape for form in self._forms]
            operands = [[] if shape is None else shape.operand_types for shape in shapes]
            results = [[] if shape is None else shape.result_types for shape in shapes]
            number = self._type_number
            self._columns = _Table(
                np.array([form.number for form in self._forms], np.int32),
                np.array([form.before for form in self._forms], np.int32),
                np.array([form.has_result for form in self._forms], np.bool_),
                lists_of([[*map(number, types)] for types in operands]),
                np.array([number(types[0]) if types else -1 for types in results], np.int32),
            )
        return self._columns
