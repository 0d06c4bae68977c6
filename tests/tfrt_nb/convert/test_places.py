"""Locations of the IR as places of a file, through text."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.convert.attributes import location_of_place, place_of
from tfrt_nb.convert.mlir_to_bef import to_records
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.locations import (
    UNKNOWN,
    CallPlace,
    FilePlace,
    FusedPlace,
    NamedPlace,
    Place,
    read_place,
)

CASES: dict[str, Place] = {
    "": FilePlace("f.mlir", 2, 8),
    "loc(unknown)": UNKNOWN,
    'loc("x.py":3:4)': FilePlace("x.py", 3, 4),
    'loc("name")': NamedPlace("name", UNKNOWN),
    'loc("name"("x.py":3:4))': NamedPlace("name", FilePlace("x.py", 3, 4)),
    'loc(callsite("a" at "x.py":3:4))': CallPlace(
        NamedPlace("a", UNKNOWN), FilePlace("x.py", 3, 4)
    ),
    'loc(fused["a", "x.py":3:4])': FusedPlace((NamedPlace("a", UNKNOWN), FilePlace("x.py", 3, 4))),
}

SIMPLIFIED: dict[str, Place] = {
    "loc(fused[])": UNKNOWN,
    'loc(fused[unknown, "a"])': NamedPlace("a", UNKNOWN),
    'loc(fused["a", "b", "a"])': FusedPlace((NamedPlace("a", UNKNOWN), NamedPlace("b", UNKNOWN))),
    'loc(fused["a", fused["b", "a"]])': FusedPlace(
        (NamedPlace("a", UNKNOWN), NamedPlace("b", UNKNOWN))
    ),
    'loc(fused<"m">["a"])': FusedPlace((NamedPlace("a", UNKNOWN),)),
    'loc(fused<"m">[])': FusedPlace((UNKNOWN,)),
    'loc(fused["a", fused<"m">["b", "c"]])': FusedPlace(
        (
            NamedPlace("a", UNKNOWN),
            FusedPlace((NamedPlace("b", UNKNOWN), NamedPlace("c", UNKNOWN))),
        )
    ),
}
"""Fused locations that MLIR writes in another way."""


def parse(location: str) -> ModuleOp:
    return parse_module(
        f"func @f() {{\n  %x = tfrt.new.chain {location}\n  tfrt.return\n}}", "f.mlir"
    )


@pytest.mark.parametrize(("text", "place"), [*CASES.items(), *SIMPLIFIED.items()])
def test_a_kernel_is_where_its_operation_says(text: str, place: Place) -> None:
    records = to_records(parse(text))
    (kernel,) = records.functions[0].kernels

    assert read_place(records.locations, records.location_strings, kernel.location) == place


@pytest.mark.parametrize("place", CASES.values())
def test_a_place_comes_back_from_its_location(place: Place) -> None:
    assert place_of(location_of_place(place)) == place
