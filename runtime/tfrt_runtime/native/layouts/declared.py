"""Declare a struct of 8-byte words from its fields, in order; their offsets are computed.

    struct("LATCH", size=128, PENDING="1 until the value resolves.", OWNERS=line("Who frees it."))

adds three names to the package: LATCH_PENDING = 0, LATCH_OWNERS = 64, and LATCH_SIZE = 128.  Native
code, the simulator, and the decoder read them as constants.  The views through which Python reads
native memory (`host.structs`) are built from `FIELDS`.
"""

from typing import NamedTuple

FIELDS: dict[str, dict[str, int]] = {}
"""The offsets, by struct and field."""
OFFSETS: dict[str, int] = {}
"""The same offsets, and the sizes of structs, by their names in the package."""


class Place(NamedTuple):
    """A field that does not directly follow the previous one."""

    offset: int
    what: str


def at(offset: int, what: str = "") -> Place:
    """Place a field at a given byte offset.

    The field follows a table, or shares a word with a field that is used at other times.
    """
    return Place(offset, what)


def line(what: str = "") -> Place:
    """Place a field at the start of the next cache line, because another thread writes it."""
    return Place(-1, what)


def struct(name: str, /, *, size: int = 0, table: int = 0, **fields: str | Place) -> None:
    """Declare a struct.

    Each field has a sentence that says what the field holds, or "" if its name is enough.

    Args:
        size: the size of the whole struct in bytes; 0 if it depends on the struct's contents.
        table: alternatively, the size in bytes of the table that starts at the last field.
    """
    offsets, end = FIELDS.setdefault(name, {}), 0
    for field, what in fields.items():
        if isinstance(what, Place):
            end = -(-end // 64) * 64 if what.offset < 0 else what.offset
        offsets[field] = OFFSETS[f"{name}_{field}"] = end
        end += 8
    if size or table:
        OFFSETS[f"{name}_SIZE"] = size or end - 8 + table
