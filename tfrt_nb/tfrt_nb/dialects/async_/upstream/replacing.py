"""A dialect of xDSL with other classes for some of its operations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Dialect, Operation


def with_operations(
    dialect: Dialect,
    replacements: Sequence[type[Operation]],
    more: Sequence[type[Operation]] = (),
) -> Dialect:
    """The dialect with some operations replaced by others of the same name, and some more."""
    by_name = {op.name: op for op in replacements}
    operations = [by_name.get(op.name, op) for op in dialect.operations]
    return Dialect(dialect.name, [*operations, *more], list(dialect.attributes))
