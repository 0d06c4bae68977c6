"""Test the texts and pictures of values on boards."""

from __future__ import annotations

import base64
import warnings
import zlib

import numpy as np
import pytest

from tfrt_nb.documents.heat_map import heat_map
from tfrt_nb.documents.previews import payload_text, word_text


@pytest.mark.parametrize(
    ("type_", "word", "text"),
    [
        ("i1", 3, "true"),
        ("i8", -1, "-1"),
        ("ui8", -1, "255"),
        ("f16", 0x3E00, "1.5"),
        ("bf16", 0x4020, "2.5"),
        ("bf16", -0x8000, "-0.0"),
        ("f64", 0x3FF8000000000000, "1.5"),
        ("tensor", 1, None),
    ],
)
def test_a_word_is_shown_as_a_number_of_its_type(type_: str, word: int, text: str | None) -> None:
    assert word_text(type_, word) == payload_text(f"!async.value<{type_}>", word) == text


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([-1e308, 0.0, 1e308], [1, 128, 255]),
        ([-1e308, np.nan, 1e308], [1, 0, 255]),
        ([0.0, 5e-324], [1, 1]),
        ([2.0, 3.0, 4.0], [1, 128, 255]),
    ],
)
def test_a_picture_has_a_shade_for_each_number(row: list[float], expected: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = heat_map(np.array([row]))
    assert found is not None
    data = base64.b64decode(found.address.partition(",")[2])
    start = data.index(b"IDAT") + 4
    size = int.from_bytes(data[start - 8 : start - 4], "big")
    shades = zlib.decompress(data[start : start + size])[1:]
    assert list(shades) == expected
