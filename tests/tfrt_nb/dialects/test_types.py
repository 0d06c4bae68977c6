"""Test shapes, such as `#corert.shape<2x?>`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrt_nb.dialects.types import DYNAMIC, ShapeAttr


@pytest.mark.parametrize(
    ("body", "dimensions"),
    [
        ("", ()),
        ("8", (8,)),
        ("2x?x16x?", (2, DYNAMIC, 16, DYNAMIC)),
        (" 2 x 3 ", (2, 3)),
        ("*", None),
    ],
)
def test_a_shape_is_read(body: str, dimensions: tuple[int, ...] | None) -> None:
    shape = ShapeAttr.read(body)

    assert shape == ShapeAttr.of(dimensions)
    assert shape.dimensions == dimensions


@pytest.mark.parametrize("body", ["x", "2x", "-1", "2xx3", "*x2", "2,3", "i32", str(2**63)])
def test_what_is_no_shape_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match="shape"):
        ShapeAttr.read(body)


@given(st.none() | st.lists(st.integers(0, 2**40) | st.just(DYNAMIC)))
def test_what_is_printed_is_read_back(dimensions: list[int] | None) -> None:
    shape = ShapeAttr.of(dimensions)
    text = str(shape)

    assert ShapeAttr.read(text.removeprefix("#corert.shape<").removesuffix(">")) == shape
