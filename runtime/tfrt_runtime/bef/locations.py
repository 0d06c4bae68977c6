"""The locations of kernels in their sources, which are the records of the locations section.

A record is a kind byte (`LocationKind`), followed by

* unknown: nothing
* file, line, column: VBR offset of the file's name, VBR line, VBR column
* name: VBR offset of the name, a record
* call site: the callee's record, then the caller's
* fused: VBR count, records

The names are in the location strings section.  Kernels and functions refer to a record by its
offset.  An offset outside the section represents a location that could not be written.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from tfrt_runtime.bef.records import LocationKind
from tfrt_runtime.bef.wire import ByteBuilder, Cursor, MalformedBef, bytes_of
from tfrt_runtime.diagnostics import AnyLocation, Location, OpaqueLocation


@dataclass(frozen=True, slots=True)
class UnknownPlace:
    """The location of an operation if the file does not say where it comes from."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A line and a column in a file; both may be 0."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place to which the program has given a name."""

    name: str
    child: Place


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A place in a callee, with the place of the call in the caller."""

    callee: Place
    caller: Place


@dataclass(frozen=True, slots=True)
class FusedPlace:
    """Several locations of one operation, for example of the operations that it replaces."""

    children: tuple[Place, ...]


Place = UnknownPlace | FilePlace | NamedPlace | CallPlace | FusedPlace

UNKNOWN = UnknownPlace()

_FILE_LINE_COLUMN = int(LocationKind.FILE_LINE_COLUMN)

# Real locations are only a few levels deep; deeper ones come from broken files.
_MAX_DEPTH = 64


class PlaceWriter:
    """Writes the two sections for locations."""

    def __init__(self) -> None:
        self.strings = ByteBuilder()
        self.records = ByteBuilder()
        self._string_offsets: dict[str, int] = {}
        self._columns: dict[int, bytes] = {}
        """The last bytes of a place's record, by column."""
        self._before = "", -1, b""
        """The last place's file and block of 128 lines, and the first bytes of its record.
        """

    def add(self, place: Place) -> int:
        """Append the record of `place`, and return its offset.

        Adding the same place again appends another record.
        """
        offset = len(self.records)
        self._write(place)
        return offset

    def add_file(self, file: str, line: int, column: int) -> int:
        """Append the place `FilePlace(file, line, column)`, and return its offset.

        Nearly all places have this form, so this method is faster than `add`.
        """
        return self.add_lines(file, (line,), (column,))[0]

    def add_lines(self, file: str, lines: Sequence[int], columns: Sequence[int]) -> Sequence[int]:
        """Call `add_file` for each pair of a line and a column, and return the offsets."""
        records, ends = self.records.data, self._columns
        offsets = array("q")
        known, group, before = self._before
        if file != known:
            group = -1
        for line, column in zip(lines, columns, strict=True):
            if line >> 7 != group:  # a varint has the lowest seven bits last
                group = line >> 7
                before = _varints(_FILE_LINE_COLUMN, self._string(file), line)[:-1]
            end = ends.get(column)
            if end is None:
                end = ends[column] = _varints(column)
            offsets.append(len(records))
            records += before
            records.append(line & 0x7F)
            records += end
        self._before = file, group, before
        return offsets

    def _write(self, place: Place) -> None:
        records = self.records
        match place:
            case UnknownPlace():
                records.byte(LocationKind.UNKNOWN)
            case FilePlace(file, line, column):
                self.add_file(file, line, column)
            case NamedPlace(name, child):
                records.byte(LocationKind.NAME)
                records.varint(self._string(name))
                self._write(child)
            case CallPlace(callee, caller):
                records.byte(LocationKind.CALL_SITE)
                self._write(callee)
                self._write(caller)
            case FusedPlace(children):
                records.byte(LocationKind.FUSED)
                records.varint(len(children))
                for child in children:
                    self._write(child)

    def _string(self, text: str) -> int:
        offset = self._string_offsets.get(text)
        if offset is None:
            offset = self._string_offsets[text] = len(self.strings)
            self.strings.data += bytes_of(text) + b"\0"
        return offset


def _varints(*values: int) -> bytes:
    builder = ByteBuilder()
    builder.varints(values)
    return bytes(builder.data)


def read_place(records: bytes, strings: bytes, offset: int) -> Place:
    """Return the place at `offset`, or UNKNOWN if the record cannot be read.

    Places are used only in messages, so a file with a broken place is accepted.
    """
    if not 0 <= offset < len(records):
        return UNKNOWN
    cursor = Cursor(memoryview(records), "invalid Locations section in BEF file", offset)
    try:
        return _read(cursor, strings, _MAX_DEPTH)
    except MalformedBef:
        return UNKNOWN


def _read(cursor: Cursor, strings: bytes, depth: int) -> Place:
    if depth == 0:
        raise cursor.fail("locations are nested too deeply")
    match kind := cursor.byte():
        case LocationKind.UNKNOWN:
            return UNKNOWN
        case LocationKind.FILE_LINE_COLUMN:
            return FilePlace(_read_string(cursor, strings), cursor.varint(), cursor.varint())
        case LocationKind.NAME:
            name = _read_string(cursor, strings)
            return NamedPlace(name, _read(cursor, strings, depth - 1))
        case LocationKind.CALL_SITE:
            callee = _read(cursor, strings, depth - 1)
            return CallPlace(callee, _read(cursor, strings, depth - 1))
        case LocationKind.FUSED:
            count = cursor.count("locations")
            return FusedPlace(tuple(_read(cursor, strings, depth - 1) for _ in range(count)))
    raise cursor.fail(f"location kind {kind}")


def _read_string(cursor: Cursor, strings: bytes) -> str:
    start = cursor.varint()
    end = strings.find(b"\0", start) if start < len(strings) else -1
    if end < 0:
        raise cursor.fail(f"no string at offset {start}: the strings take {len(strings)} bytes")
    return strings[start:end].decode(errors="surrogateescape")


def to_location(place: Place) -> AnyLocation:
    """Convert `place` to the form that diagnostics use: a point in a file, or text."""
    if isinstance(place, FilePlace):
        return Location(place.file, place.line, place.column)
    return OpaqueLocation(_as_text(place))


def _as_text(place: Place) -> str:
    match place:
        case UnknownPlace():
            return "(unknown)"
        case FilePlace(file, line, column):
            return f"{file};{line};{column}"
        case NamedPlace(name, UnknownPlace()):
            return name
        case NamedPlace(name, child):
            return f"{_as_text(child)}({name})"
        case CallPlace(callee, caller):
            return f"{_as_text(callee)}<-{_as_text(caller)}"
        case FusedPlace(children):
            return ",".join(map(_as_text, children))


def debug_name(place: Place) -> str | None:
    """Return the name that a program has given to a place; kernels see it as their debug info.

    For a fused place, this is the joined names of its direct children.  For a call site, this is
    the name of the callee.
    """
    match place:
        case NamedPlace(name, _) | CallPlace(NamedPlace(name, _), _):
            return name
        case FusedPlace(children):
            names = [child.name for child in children if isinstance(child, NamedPlace)]
            return "".join(names) if names else None
    return None
