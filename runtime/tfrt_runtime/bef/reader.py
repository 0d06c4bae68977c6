"""Read a BEF file from bytes.

`BefFile.load` and `BefFile.open` check everything once.  Code that has a `BefFile` may use every
offset, index, and register in it without further checks.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tfrt_runtime.bef.attributes import AttributeReader
from tfrt_runtime.bef.body_reader import BodyReader, Signature, Tables
from tfrt_runtime.bef.locations import Place, debug_name, read_place, to_location
from tfrt_runtime.bef.records import (
    ARRAY_FLAG,
    KERNEL_ALIGNMENT,
    MAGIC,
    VERSION,
    AttributeKind,
    BefFunction,
    BefModule,
    DType,
    FunctionKind,
    SectionId,
    collector_paused,
)
from tfrt_runtime.bef.wire import Cursor, MalformedBef
from tfrt_runtime.diagnostics import AnyLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class BefFile(BefModule):
    """A BEF file that has been read and checked.

    `attribute_reader` reads the values of the file's attributes.
    """

    name: str
    attribute_reader: AttributeReader

    @staticmethod
    def load(data: bytes | memoryview, name: str = "<bef>") -> BefFile:
        """Read the file in `data`, which must not change afterward.

        Raises:
            MalformedBef: if `data` is incomplete or is not a BEF file.
        """
        try:
            with collector_paused():
                return _load(memoryview(data), name)
        except MalformedBef as malformed:
            # Cursors do not know the file's name.
            raise MalformedBef(malformed.problem, malformed.offset, malformed.found, name) from None

    @staticmethod
    def of(module: BefModule, name: str) -> BefFile:
        """Return `module` as a file, without writing and reading it.

        The result is not checked: the code that made `module` is responsible for its numbers.
        """
        attributes = memoryview(module.attributes)
        return BefFile(
            **{part.name: getattr(module, part.name) for part in fields(BefModule)},
            name=name,
            attribute_reader=AttributeReader(attributes, 0, len(attributes)),
        )

    @staticmethod
    def open(path: str | Path) -> BefFile:
        """Read the file at `path`, mapped into memory.

        Raises:
            MalformedBef: if the file is incomplete or is not a BEF file.
            OSError: if there is no file to read.
        """
        return BefFile.load(mapped(path), str(path))

    def location(self, offset: int) -> AnyLocation:
        """Return the location of a kernel or function in the form that diagnostics use.

        `offset` is the kernel's or function's offset into the locations.
        """
        return to_location(self.place(offset))

    def debug_info(self, offset: int) -> str | None:
        """Return the name that the program has given to the place at `offset`, or None."""
        return debug_name(self.place(offset))

    def place(self, offset: int) -> Place:
        """Return the place at `offset`, with all the information that the file has about it."""
        return read_place(self.locations, self.location_strings, offset)


def mapped(path: str | os.PathLike[str]) -> memoryview:
    """Map a file into memory.

    The returned bytes change if the file is modified in place.

    Raises:
        OSError: if there is no file to read.
    """
    with Path(path).open("rb") as file:
        is_empty = file.seek(0, 2) == 0  # an empty file cannot be mapped
        return memoryview(b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


class _Section(NamedTuple):
    start: int
    end: int
    alignment: int


class _Sections:
    """The positions of a file's sections; a missing section is empty."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._sections = find_sections(data)

    def __contains__(self, section_id: SectionId) -> bool:
        return section_id in self._sections

    def __getitem__(self, section_id: SectionId) -> _Section:
        end = len(self._data)
        return self._sections.get(section_id, _Section(end, end, 1))

    def bytes(self, section_id: SectionId) -> bytes:
        start, end, _ = self[section_id]
        return self._data[start:end].tobytes()

    def cursor(self, section_id: SectionId, detail: str = "") -> Cursor:
        """Return a cursor over the section.  Exceptions that the cursor raises name the section."""
        start, end, _ = self[section_id]
        return Cursor(self._data, _problem(section_id) + detail, start, end)


def _problem(section_id: SectionId) -> str:
    name = "".join(word.capitalize() for word in section_id.name.split("_"))
    return f"invalid {name} section in BEF file"


def find_sections(data: memoryview) -> dict[int, _Section]:
    """Return the position of each section by its id, in the file's order."""
    cursor = Cursor(data, "invalid BEF file header detected")
    if (magic := cursor.take(len(MAGIC)).tobytes()) != MAGIC:
        raise cursor.fail(f"expected {MAGIC.hex()}, found {magic.hex()}", 0)
    cursor.problem = "Unknown BEF format version detected"
    if (version := cursor.byte()) != VERSION:
        raise cursor.fail(f"expected {VERSION}, found {version}", len(MAGIC))
    cursor.problem = "BEF file section header corrupted"
    sections: dict[int, _Section] = {}
    while cursor.remaining:
        start, section_id = cursor.offset, cursor.byte()
        section = _find_section(cursor)
        if section_id in sections:  # otherwise, a file full of headers would take forever
            raise cursor.fail(f"section {section_id} appears a second time", start)
        sections[section_id] = section
    return sections


def _find_section(cursor: Cursor) -> _Section:
    length, is_aligned = divmod(cursor.varint(), 2)
    if is_aligned:
        alignment = cursor.byte()
        if alignment.bit_count() != 1:
            raise cursor.fail(f"alignment {alignment} is not a power of two", cursor.offset - 1)
        cursor.align(alignment)
    else:
        alignment = cursor.offset & -cursor.offset  # the alignment that it happens to have
    start = cursor.offset
    cursor.take(length)
    return _Section(start, cursor.offset, alignment)


def _load(data: memoryview, name: str) -> BefFile:
    sections = _Sections(data)
    strings = _read_strings(sections.cursor(SectionId.STRINGS))
    kernel_names = _read_names(sections.cursor(SectionId.KERNELS), strings)
    type_names = _read_names(sections.cursor(SectionId.TYPES), strings)
    types = dict(enumerate(type_names))
    index = sections.cursor(SectionId.FUNCTION_INDEX, ": Failed to read the FunctionIndex section")
    count = index.count("functions")
    signatures = [_read_signature(index, strings, types) for _ in range(count)]
    start, end, alignment = sections[SectionId.ATTRIBUTES]
    tables = Tables(kernel_names, len(signatures), end - start)
    functions = _read_functions(data, sections, signatures, tables)
    for section_id, field, read in (
        (SectionId.REGISTER_TYPES, "register_types", partial(_read_register_types, types)),
        (SectionId.ATTRIBUTE_NAMES, "attribute_names", partial(_read_attribute_names, strings)),
    ):
        _complete(functions, sections, section_id, field, read)
    file = BefFile(
        functions,
        kernel_names,
        type_names,
        data[start:end],
        min(alignment, _MAX_ATTRIBUTE_ALIGNMENT),
        sections.bytes(SectionId.LOCATION_STRINGS),
        sections.bytes(SectionId.LOCATIONS),
        _read_attribute_types(sections, end - start),
        compiled=_read_compiled(sections),
        name=name,
        attribute_reader=AttributeReader(data, start, end),
    )
    used = file.used_strings()
    return replace(file, unused_strings=tuple(s for s in strings.values() if s not in used))


# TFRT's `kAttributeMaxAlignment`; a section's position may happen to be aligned more strictly.
_MAX_ATTRIBUTE_ALIGNMENT = 8


def _read_strings(cursor: Cursor) -> dict[int, str]:
    """Return the strings, keyed by offset.

    A reference to the middle of a string is therefore invalid.
    """
    strings: dict[int, str] = {}
    offset = 0
    *texts, rest = cursor.take(cursor.remaining).tobytes().split(b"\0")
    if rest:
        raise cursor.fail("the last string is not terminated")
    for text in texts:
        strings[offset] = text.decode(errors="surrogateescape")
        offset += len(text) + 1
    return strings


def _read_names(cursor: Cursor, strings: Mapping[int, str]) -> tuple[str, ...]:
    return _lookup(cursor, strings, cursor.varints(cursor.count("names")), "string")


def _lookup(
    cursor: Cursor, table: Mapping[int, str], keys: Sequence[int], what: str
) -> tuple[str, ...]:
    """Return the entries of `table` for `keys`, which `cursor` has just read."""
    try:
        return tuple([table[key] for key in keys])
    except KeyError as missing:
        raise cursor.fail(f"no {what} at {missing}") from None


def _read_signature(
    cursor: Cursor, strings: Mapping[int, str], types: Mapping[int, str]
) -> Signature:
    kind = cursor.byte()
    if kind > max(FunctionKind):
        raise cursor.fail(f"function kind {kind}", cursor.offset - 1)
    offset, name = cursor.varints(2)
    return Signature(
        FunctionKind(kind),
        _lookup(cursor, strings, (name,), "string")[0],
        _lookup(cursor, types, cursor.varints(cursor.count("types")), "type"),
        _lookup(cursor, types, cursor.varints(cursor.count("types")), "type"),
        offset,
    )


def _read_functions(
    data: memoryview, sections: _Sections, signatures: Sequence[Signature], tables: Tables
) -> tuple[BefFunction, ...]:
    start, end, _ = sections[SectionId.FUNCTIONS]
    if any(s.kind != FunctionKind.NATIVE for s in signatures) and start % KERNEL_ALIGNMENT:
        raise sections.cursor(SectionId.FUNCTIONS).fail("not at a multiple of 4")
    bodies = BodyReader(data, start, end, tables)
    nonstrict = _read_nonstrict_kernels(sections)
    functions = []
    for index, signature in enumerate(signatures):
        if signature.kind == FunctionKind.NATIVE:
            functions.append(BefFunction(*signature[:4]))
            continue
        if signature.offset >= end - start:
            detail = ": Invalid offset found for BEFFunction"
            cursor = sections.cursor(SectionId.FUNCTION_INDEX, detail)
            found = f"{signature.name!r} at {signature.offset} of {end - start} bytes"
            raise cursor.fail(found)
        functions.append(bodies.read(signature, nonstrict.get(index, ())))
    return tuple(functions)


def _read_nonstrict_kernels(sections: _Sections) -> dict[int, tuple[int, ...]]:
    """Return the numbers of the non-strict kernels, keyed by function index."""
    if SectionId.NONSTRICT_KERNELS not in sections:
        return {}
    cursor = sections.cursor(SectionId.NONSTRICT_KERNELS)
    numbers: dict[int, tuple[int, ...]] = {}
    for _ in range(cursor.count("functions")):
        function = cursor.varint()
        numbers[function] = tuple(cursor.varints(cursor.count("kernels")))
    return numbers


def _read_compiled(sections: _Sections) -> str:
    cursor = sections.cursor(SectionId.COMPILED_FUNCTIONS)
    start = cursor.offset
    try:
        return cursor.take(cursor.remaining).tobytes().decode()
    except UnicodeDecodeError as wrong:
        raise cursor.fail("text that is not UTF-8", start + wrong.start) from None


# --- optional sections ---


def _read_attribute_types(sections: _Sections, attributes_size: int) -> dict[int, int] | None:
    if SectionId.ATTRIBUTE_TYPES not in sections:
        return None
    cursor = sections.cursor(SectionId.ATTRIBUTE_TYPES)
    numbers = cursor.varints(2 * cursor.count("attributes"))
    kinds = dict(zip(numbers[::2], numbers[1::2], strict=True))
    if kinds and max(kinds) >= attributes_size:
        raise cursor.fail(f"attribute at {max(kinds)} of {attributes_size} bytes")
    if unknown := set(kinds.values()) - _ATTRIBUTE_KINDS:
        raise cursor.fail(f"attribute kind {min(unknown)}")
    return kinds


_ATTRIBUTE_KINDS = frozenset(
    kind | flag for kind in (*DType, *AttributeKind) for flag in (0, ARRAY_FLAG)
)


def _complete(
    functions: tuple[BefFunction, ...],
    sections: _Sections,
    section_id: SectionId,
    field: str,
    read: Callable[[Cursor, BefFunction], Any],
) -> None:
    """Fill in a field of new functions from an optional section, if the file has that section.

    The section does not cover native functions.
    """
    if section_id in sections:
        cursor = sections.cursor(section_id)
        _expect(cursor, len(functions), "functions")
        for function in functions:
            found: Any = () if function.kind == FunctionKind.NATIVE else read(cursor, function)
            # Copying thousands of small functions would take as long as reading them.
            object.__setattr__(function, field, found)


def _expect(cursor: Cursor, expected: int, what: str) -> None:
    start = cursor.offset
    found = cursor.varint()
    if found != expected:
        raise cursor.fail(f"expected {expected} {what}, found {found}", start)


def _read_register_types(
    types: Mapping[int, str], cursor: Cursor, function: BefFunction
) -> Sequence[str]:
    count = function.register_count
    _expect(cursor, count, "registers")
    return _lookup(cursor, types, cursor.varints(count), "type")


def _read_attribute_names(
    strings: Mapping[int, str], cursor: Cursor, function: BefFunction
) -> Sequence[tuple[str, ...]]:
    _expect(cursor, 1 + len(function.kernels), "kernels")
    counts = [*function.kernels.each(lambda shape: len(shape.attributes))]
    names = iter(_lookup(cursor, strings, cursor.varints(sum(counts)), "string"))
    return tuple([tuple(islice(names, count)) if count else () for count in counts])
