"""Test locations as bytes, in diagnostics, and as debug info."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_runtime.bef.locations import (
    UNKNOWN,
    CallPlace,
    FilePlace,
    FusedPlace,
    NamedPlace,
    Place,
    PlaceWriter,
    debug_name,
    read_place,
    to_location,
)
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import AnyLocation, Location, OpaqueLocation

GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"

HERE = FilePlace("a.mlir", 3, 5)
NAMED = NamedPlace("layer", UNKNOWN)

CASES: list[tuple[Place, AnyLocation, str | None]] = [
    (UNKNOWN, OpaqueLocation("(unknown)"), None),
    (HERE, Location("a.mlir", 3, 5), None),
    (FilePlace("a.mlir", 0, 0), Location("a.mlir", 0, 0), None),
    (NAMED, OpaqueLocation("layer"), "layer"),
    (NamedPlace("", UNKNOWN), OpaqueLocation(""), ""),
    (NamedPlace("layer", HERE), OpaqueLocation("a.mlir;3;5(layer)"), "layer"),
    (CallPlace(NAMED, HERE), OpaqueLocation("layer<-a.mlir;3;5"), "layer"),
    (CallPlace(HERE, NAMED), OpaqueLocation("a.mlir;3;5<-layer"), None),
    (
        FusedPlace((HERE, NAMED, NamedPlace("two", HERE))),
        OpaqueLocation("a.mlir;3;5,layer,a.mlir;3;5(two)"),
        "layertwo",
    ),
    (FusedPlace((HERE,)), OpaqueLocation("a.mlir;3;5"), None),
]


@pytest.mark.parametrize(("place", "location", "name"), CASES)
def test_a_place_is_read_shown_and_named(
    place: Place, location: AnyLocation, name: str | None
) -> None:
    writer = PlaceWriter()
    writer.add(NAMED)
    offset = writer.add(place)
    read = read_place(bytes(writer.records.data), bytes(writer.strings.data), offset)

    assert read == place
    assert to_location(place) == location
    assert debug_name(place) == name


def test_strings_are_stored_once_and_records_each_time() -> None:
    writer = PlaceWriter()
    offsets = [writer.add(HERE), writer.add(HERE)]

    assert offsets == [0, 4]
    assert writer.strings.data == b"a.mlir\0"
    assert writer.records.data == bytes((1, 0, 3, 5)) * 2


@pytest.mark.parametrize("offset", [-1, 4, 2**32 - 1])
def test_an_offset_outside_is_an_unknown_place(offset: int) -> None:
    assert read_place(b"\x01\x00\x03\x05", b"a.mlir\0", offset) == UNKNOWN


@pytest.mark.parametrize(
    "records", [b"\x09", b"\x01\x63\x01\x01", b"\x03" * 5000, b"\x04\xff\x7f", b"\x02\x00"]
)
def test_a_broken_record_is_an_unknown_place(records: bytes) -> None:
    assert read_place(records, b"a.mlir\0", 0) == UNKNOWN


def test_the_corpus_has_the_debug_info_that_later_versions_print() -> None:
    file = BefFile.open(GOLDEN / "locations.bef")
    lines = (GOLDEN / "locations.stdout_later").read_text().splitlines()
    kernels = [k for k in file.functions[0].kernels if k.name == "tfrt_test.print_debug_info"]
    names = [file.debug_info(kernel.location) for kernel in kernels]

    assert [name or "Kernel has no debug info" for name in names] == lines[1 : 1 + len(names)]


def test_many_lines_are_written_as_one_by_one() -> None:
    lines = [0, 1, 127, 128, 129, 255, 256, 16383, 16384, 2**21, 2**28 + 5, 3, 3]
    columns = [1, 0, 127, 128, 3, 3, 16384, 1, 2, 3, 4, 5, 5]
    at_once, one_by_one = PlaceWriter(), PlaceWriter()
    for writer in (at_once, one_by_one):
        writer.add_file("first.mlir", 1, 1)
    expected = [
        one_by_one.add_file("a.mlir", line, column)
        for line, column in zip(lines, columns, strict=True)
    ]

    assert [*at_once.add_lines("a.mlir", lines, columns)] == expected
    assert at_once.records.data == one_by_one.records.data
    assert at_once.strings.data == one_by_one.strings.data
