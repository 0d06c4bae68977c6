"""Addition in pairs, as several peers do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


def reduced(values: list[Value], combine: Callable[[Value, Value], Value]) -> Value:
    """Reduce values to one: combine neighbors, then their results, and so on."""
    while len(values) > 1:
        pairs = [combine(*pair) for pair in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return values[0]
