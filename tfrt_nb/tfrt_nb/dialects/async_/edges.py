"""Values that cross the border of a region: from an operation into it, between regions, and out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import ValueType


def verify_edge(
    source: str,
    target: str,
    given: Sequence[Attribute],
    expected: Sequence[Attribute],
    held_by: Literal["source", "target"] | None = None,
) -> None:
    """Along an edge of control flow types are equal, or those of one end hold those of the other.

    An `!async.value<T>` of the end `held_by` matches T.
    """
    if len(given) != len(expected):
        raise VerifyException(
            f" region control flow edge from {source} to {target}: source has {len(given)} "
            f"operands, but target successor needs {len(expected)}"
        )
    for index, (from_type, to_type) in enumerate(zip(given, expected, strict=True)):
        source_type = _payload(from_type) if held_by == "source" else from_type
        target_type = _payload(to_type) if held_by == "target" else to_type
        if source_type != target_type:
            hint = f": it is '{source_type}' there" if from_type == to_type else ""
            raise VerifyException(
                f" along control flow edge from {source} to {target}: source type #{index} "
                f"'{from_type}' should match input type #{index} '{to_type}'{hint}"
            )


def _payload(type_: Attribute) -> Attribute:
    return type_.value_type if isinstance(type_, ValueType) else type_
