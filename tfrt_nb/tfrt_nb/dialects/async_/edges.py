"""Values that cross the border of a region: from an operation into it, between regions, and out again."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import ValueType


def verify_edge(
    source: str, target: str, given: Sequence[Attribute], expected: Sequence[Attribute]
) -> None:
    """Along an edge of control flow `T` matches `!async.value<T>`, and a token another token."""
    if len(given) != len(expected):
        raise VerifyException(
            f" region control flow edge from {source} to {target}: source has {len(given)} "
            f"operands, but target successor needs {len(expected)}"
        )
    for index, (from_type, to_type) in enumerate(zip(given, expected, strict=True)):
        if _payload(from_type) != _payload(to_type):
            raise VerifyException(
                f" along control flow edge from {source} to {target}: source type #{index} "
                f"'{from_type}' should match input type #{index} '{to_type}'"
            )


def _payload(type_: Attribute) -> Attribute:
    return type_.value_type if isinstance(type_, ValueType) else type_
