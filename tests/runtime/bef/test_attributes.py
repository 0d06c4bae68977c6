"""Test the conversion of attributes to bytes and back."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrt_runtime.bef.attributes import (
    SIZES as ELEMENT_SIZES,
)
from tfrt_runtime.bef.attributes import (
    Aggregate,
    Array,
    Attribute,
    AttributeReader,
    Dense,
    Scalar,
    Shape,
    String,
    Symbol,
    TypeArray,
    TypeValue,
    kind_of,
    pack,
    to_plain,
    unpack,
    write_attribute,
)
from tfrt_runtime.bef.records import AttributeKind, DType
from tfrt_runtime.bef.wire import ByteBuilder, MalformedBef

INTEGERS = {
    DType.I1: st.booleans(),
    DType.I8: st.integers(-(2**7), 2**7 - 1),
    DType.I16: st.integers(-(2**15), 2**15 - 1),
    DType.I32: st.integers(-(2**31), 2**31 - 1),
    DType.I64: st.integers(-(2**63), 2**63 - 1),
    DType.UI8: st.integers(0, 2**8 - 1),
    DType.UI16: st.integers(0, 2**16 - 1),
    DType.UI32: st.integers(0, 2**32 - 1),
    DType.UI64: st.integers(0, 2**64 - 1),
    DType.F32: st.floats(width=32, allow_nan=False),
    DType.F64: st.floats(allow_nan=False),
}
DTYPES = st.sampled_from(list(DType))


@st.composite
def scalars(draw: st.DrawFn) -> Scalar:
    dtype = draw(st.sampled_from(list(INTEGERS)))
    return Scalar(dtype, draw(INTEGERS[dtype]))


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    dtype = draw(st.sampled_from(list(INTEGERS)))
    values = tuple(draw(st.lists(INTEGERS[dtype], max_size=4)))
    return Array(dtype if values else DType.I32, values)


@st.composite
def dense_elements(draw: st.DrawFn) -> Dense:
    dtype = draw(st.sampled_from(list(ELEMENT_SIZES)))
    sizes = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    size = math.prod(sizes) * ELEMENT_SIZES[dtype]
    return Dense(dtype, sizes, draw(st.binary(min_size=size, max_size=size)))


SIZES = st.lists(st.integers(-1, 2**40), max_size=3).map(tuple)
LEAVES = st.one_of(
    scalars(),
    arrays(),
    dense_elements(),
    st.builds(TypeValue, DTYPES),
    st.builds(TypeArray, st.lists(DTYPES, min_size=1, max_size=3).map(tuple)),
    st.builds(String, st.text(max_size=5)),
    st.builds(Shape, st.none() | SIZES),
)
ATTRIBUTES = st.recursive(
    LEAVES,
    lambda inner: st.builds(Aggregate, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    max_leaves=6,
)


def reader(data: bytes | bytearray) -> AttributeReader:
    return AttributeReader(memoryview(bytes(data)), 0, len(data))


@given(st.lists(ATTRIBUTES, max_size=5))
def test_attributes_come_back_as_they_were_written(attributes: list[Attribute]) -> None:
    out = ByteBuilder()
    offsets = [write_attribute(out, attribute) for attribute in attributes]
    read = reader(out.data)

    found = [
        read.read(offset, kind_of(attribute))
        for offset, attribute in zip(offsets, attributes, strict=True)
    ]
    assert found == attributes


@pytest.mark.parametrize(
    ("attribute", "encoded"),
    [
        (Scalar(DType.I32, -2), "feffffff"),
        (Scalar(DType.I1, True), "01"),
        (Scalar(DType.F16, 1.5), "003e"),
        (Scalar(DType.BF16, -2.25), "10c0"),
        (TypeValue(DType.F32), "0a"),
        (String("text"), "04000000 74657874"),
        (Array(DType.UI8, (200, 201)), "02000000 c8c9"),
        (Array(DType.I64, (5,)), "cccccccc 01000000 0500000000000000"),
        (Array(DType.I32, ()), "00000000"),
        (Shape(None), "00000000"),
        (Shape((8,)), "cccccccc 08000c00 14000000 01000000 0800000000000000"),
        (
            Dense(DType.I8, (2,), b"\1\2"),
            "cccccccc 08061c00 1e000000 1c000000 02000000 01000000 0200000000000000 0102",
        ),
        (
            Aggregate((String("a"), TypeValue(DType.I8))),
            "04001400 1f000000 02000000 18000000 1e000000 cccccc 10 01000000 61 19 06",
        ),
        (Symbol("m", ("f",), "text"), "01 01 01 04 6d 66 74657874 00"),
    ],
)  # fmt: skip
def test_the_bytes_are(attribute: Attribute, encoded: str) -> None:
    out = ByteBuilder()
    offset = write_attribute(out, attribute)

    assert out.data.hex() == bytes.fromhex(encoded).hex()
    assert reader(out.data).read(offset, kind_of(attribute)) == attribute


def test_a_kernel_sees_an_aggregate_as_plain_values() -> None:
    out = ByteBuilder()
    inner = Aggregate((String("s"), Array(DType.I32, (1, 2))))
    aggregate = Aggregate((inner, Scalar(DType.F32, 0.5), Shape((2, -1))))
    offset = write_attribute(out, aggregate)

    assert to_plain(reader(out.data).read(offset, AttributeKind.AGGREGATE)) == (
        ("s", (1, 2)),
        0.5,
        (2, -1),
    )


def test_a_float_beyond_its_type_becomes_an_infinity() -> None:
    packed = pack(DType.F32, (1e300, -1e300, 1.0))

    assert struct.unpack("<3f", packed) == (math.inf, -math.inf, 1.0)


@pytest.mark.parametrize(("value", "bits"), [(1.0, 0x3F80), (1.00390625, 0x3F80), (1e39, 0x7F80)])
def test_a_bfloat16_is_rounded_to_even(value: float, bits: int) -> None:
    assert struct.unpack("<H", pack(DType.BF16, (value,))) == (bits,)


def test_a_nan_stays_a_nan_as_bfloat16() -> None:
    (value,) = unpack(DType.BF16, pack(DType.BF16, (math.nan,)))

    assert math.isnan(value)


def test_bytes_that_are_not_utf8_survive() -> None:
    out = ByteBuilder()
    offset = write_attribute(out, String("\udcff"))

    assert out.data == b"\x01\x00\x00\x00\xff"
    assert reader(out.data).read(offset, DType.STRING) == String("\udcff")


BROKEN = {
    "a string past the end": (DType.STRING, "ff000000 41"),
    "an array past the end": (0x80 | DType.I64, "00000010"),
    "an unknown kind": (99, "00"),
    "a type that is no type": (AttributeKind.TYPE, "ff"),
    "a shape larger than the section": (AttributeKind.SHAPE, "08000c00 ff000000 01000000"),
    "elements that do not fill their attribute": (
        AttributeKind.DENSE, "08061c00 1e000000 1c000000 03000000 01000000 0300000000000000 0102"
    ),
    "sizes whose product is hostile": (
        AttributeKind.DENSE,
        "08062400 24000000 24000000 00000000 02000000 ffffffffffffff7f ffffffffffffff7f",
    ),
    "an aggregate whose elements overlap": (
        AttributeKind.AGGREGATE, "04001400 18000000 02000000 17000000 17000000 cccc 05 01"
    ),
    "an aggregate that contains itself": (
        AttributeKind.AGGREGATE, "04001000 14000000 01000000 00000000 1e000000"
    ),
    "a symbol without its text": (AttributeKind.SYMBOL_REF, "01 00 20 6d"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "encoded"), BROKEN.values(), ids=BROKEN)
def test_broken_is(kind: int, encoded: str) -> None:
    with pytest.raises(MalformedBef, match="invalid Attributes section in BEF file"):
        reader(bytes.fromhex(encoded)).read(0, kind)


def test_aggregates_nested_beyond_reason_are_refused() -> None:
    out = ByteBuilder()
    nested: Attribute = String("deep")
    for _ in range(100):
        nested = Aggregate((nested,))
    offset = write_attribute(out, nested)

    with pytest.raises(MalformedBef, match="aggregates nest more than 64 deep"):
        reader(out.data).read(offset, AttributeKind.AGGREGATE)
