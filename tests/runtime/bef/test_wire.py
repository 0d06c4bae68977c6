"""Test variable-width integers, alignment, and the cursor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrt_runtime.bef.wire import ByteBuilder, Cursor, MalformedBef

INTEGERS = st.integers(0, 2**64 - 1)


def cursor(data: bytes) -> Cursor:
    return Cursor(memoryview(data), "broken")


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (127, "7f"), (128, "8100"), (300, "822c"), (16384, "818000")],
)
def test_an_integer_has_its_most_significant_group_first(value: int, encoded: str) -> None:
    builder = ByteBuilder()
    builder.varint(value)

    assert builder.data.hex() == encoded
    assert cursor(bytes(builder.data)).varint() == value


@given(st.lists(INTEGERS, max_size=20))
def test_integers_come_back_one_by_one_and_all_at_once(values: list[int]) -> None:
    builder = ByteBuilder()
    builder.varints(values)
    one_by_one, at_once = cursor(bytes(builder.data)), cursor(bytes(builder.data))

    assert [one_by_one.varint() for _ in values] == values
    assert at_once.varints(len(values)).tolist() == values
    assert one_by_one.offset == at_once.offset == len(builder)


@pytest.mark.parametrize("data", ["", "80", "8080", "ff" * 9 + "00", "ff" * 12 + "00"])
def test_an_integer_that_does_not_end_within_64_bits_is_refused(data: str) -> None:
    with pytest.raises(MalformedBef):
        cursor(bytes.fromhex(data)).varint()
    with pytest.raises(MalformedBef):
        cursor(bytes.fromhex(data)).varints(1)


def test_a_read_past_the_end_says_where_and_how_much_is_missing() -> None:
    reader = cursor(b"abcd")
    reader.take(3)

    with pytest.raises(MalformedBef, match=r"broken \(at byte 3: 2 bytes expected, 1 left\)"):
        reader.take(2)
    assert reader.take(1) == b"d"


@pytest.mark.parametrize("count", [5, 2**60])
def test_a_count_of_more_things_than_bytes_is_refused_before_anything_is_allocated(
    count: int,
) -> None:
    builder = ByteBuilder()
    builder.varint(count)
    builder.data += bytes(4)
    data = bytes(builder.data)

    with pytest.raises(MalformedBef, match=f"at byte 0: {count} kernels in 4 bytes"):
        cursor(data).count("kernels")
    with pytest.raises(MalformedBef, match=f"{count + 20} bytes expected"):
        cursor(data).varints(count + 20)


@pytest.mark.parametrize(
    ("alignment", "prefix", "padding"), [(1, 0, 0), (4, 0, 3), (8, 0, 7), (8, 4, 3), (4, 3, 0)]
)
def test_padding_aligns_what_follows_the_prefix(alignment: int, prefix: int, padding: int) -> None:
    builder = ByteBuilder()
    builder.byte(1)
    builder.align(alignment, prefix)

    assert builder.data == b"\x01" + b"\xcc" * padding
    assert builder.alignment == alignment
