"""Declare structs of 8-byte words, and compute the offsets of their fields.

    struct("LATCH", size=128, PENDING="1 until the value resolves.", OWNERS=line("Who frees it."))

adds three names to the package: LATCH_PENDING = 0, LATCH_OWNERS = 64, and LATCH_SIZE = 128.  Native
code, the simulator, and the decoder use these names as constants.  `host.structs`, through which
Python reads native memory, is built from `FIELDS`.
"""

from typing import NamedTuple

FIELDS: dict[str, dict[str, int]] = {}
"""The offset in bytes of each field, keyed by struct and field."""
OFFSETS: dict[str, int] = {}
"""The same offsets, and the sizes of structs, keyed by their names in the package."""


class Place(NamedTuple):
    """The offset and the description of a field that does not directly follow the previous one."""

    offset: int
    what: str


def at(offset: int, what: str = "") -> Place:
    """Place a field at a byte offset.

    Use this after a table, or for a field that shares its word with another field that is used only
    at other times.
    """
    return Place(offset, what)


def line(what: str = "") -> Place:
    """Place a field at the start of the next cache line.

    Use this for a field that other threads write.
    """
    return Place(-1, what)


def struct(name: str, /, *, size: int = 0, table: int = 0, **fields: str | Place) -> None:
    """Declare a struct.

    Give each field a sentence that describes its contents, or "" if the name says enough.

    Args:
        size: the size of the whole struct in bytes, or 0 if it depends on the contents.
        table: instead of `size`, the size in bytes of the table that starts at the last field.
    """
    offsets, end = FIELDS.setdefault(name, {}), 0
    for field, what in fields.items():
        if isinstance(what, Place):
            # Only `line` has a negative offset: round up to the next multiple of a cache line's 64
            # bytes.
            end = -(-end // 64) * 64 if what.offset < 0 else what.offset
        offsets[field] = OFFSETS[f"{name}_{field}"] = end
        end += 8
    if size or table:
        OFFSETS[f"{name}_SIZE"] = size or end - 8 + table
