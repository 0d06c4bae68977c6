"""Test the IR's attributes and locations as values and places of a file."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute as IrAttribute

from tfrt_nb.convert.attributes import decode, encode, location_of_place, place_of
from tfrt_nb.convert.mlir_to_bef import to_records
from tfrt_nb.dialects.catalog import new_context
from tfrt_nb.source import parse_module
from tfrt_nb.source.attributes import AttributeParser
from tfrt_nb.source.spans import SourceText
from tfrt_runtime.bef.attributes import (
    Aggregate,
    Array,
    Attribute,
    Dense,
    Scalar,
    Shape,
    String,
    TypeArray,
    TypeValue,
)
from tfrt_runtime.bef.locations import (
    UNKNOWN,
    CallPlace,
    FilePlace,
    FusedPlace,
    NamedPlace,
    Place,
    read_place,
)
from tfrt_runtime.bef.records import DType


def parse(text: str) -> IrAttribute:
    return AttributeParser(SourceText(text, "<attribute>"), new_context()).parse_attribute()


CASES = {
    "true": Scalar(DType.I1, 1),
    "7": Scalar(DType.I64, 7),
    "-3 : i8": Scalar(DType.I8, -3),
    "18446744073709551615 : ui64": Scalar(DType.UI64, 2**64 - 1),
    "0.5": Scalar(DType.F64, 0.5),
    "-2.25 : bf16": Scalar(DType.BF16, -2.25),
    '"text"': String("text"),
    r'"\FF"': String("\udcff"),
    "i32": TypeValue(DType.I32),
    "complex<f64>": TypeValue(DType.COMPLEX128),
    "!corert.quint8": TypeValue(DType.QUI8),
    "[]": Array(DType.I32, ()),
    "[1 : i16, 2 : i16]": Array(DType.I16, (1, 2)),
    "[true, false]": Array(DType.I1, (1, 0)),
    "[f32, i1]": TypeArray((DType.F32, DType.I1)),
    '[1 : i32, "a"]': Aggregate((Scalar(DType.I32, 1), String("a"))),
    "[1 : i32, 1]": Aggregate((Scalar(DType.I32, 1), Scalar(DType.I64, 1))),
    "[[]]": Aggregate((Array(DType.I32, ()),)),
    "#corert.shape<2x?>": Shape((2, -1)),
    "#corert.shape<*>": Shape(None),
    "dense<[1, -2]> : tensor<2xi8>": Dense(DType.I8, (2,), b"\x01\xfe"),
    "dense<7> : tensor<2x1xui16>": Dense(DType.UI16, (2, 1), b"\x07\x00\x07\x00"),
    "dense<[true, false]> : tensor<2xi1>": Dense(DType.I1, (2,), b"\x01\x00"),
}


@pytest.mark.parametrize(("text", "value"), CASES.items())
def test_is_in_a_file(text: str, value: Attribute) -> None:
    attribute = parse(text)

    assert encode(attribute) == value
    assert decode(value) == attribute


@pytest.mark.parametrize(
    "text",
    ["unit", "{a = 1}", "index", "1 : index", "1 : i4", "tensor<2xf32>", "[1, unit]", "none"],
)
def test_is_in_no_file(text: str) -> None:
    assert encode(parse(text)) is None


PLACES: dict[str, Place] = {
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
"""Fused locations that MLIR writes differently."""


def module_at(location: str) -> ModuleOp:
    return parse_module(
        f"func @f() {{\n  %x = tfrt.new.chain {location}\n  tfrt.return\n}}", "f.mlir"
    )


@pytest.mark.parametrize(("text", "place"), [*PLACES.items(), *SIMPLIFIED.items()])
def test_a_kernel_is_where_its_operation_says(text: str, place: Place) -> None:
    records = to_records(module_at(text))
    (kernel,) = records.functions[0].kernels

    assert read_place(records.locations, records.location_strings, kernel.location) == place


@pytest.mark.parametrize("place", PLACES.values())
def test_a_place_comes_back_from_its_location(place: Place) -> None:
    assert place_of(location_of_place(place)) == place
