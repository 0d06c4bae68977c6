"""Declare a struct of 8-byte words: its fields in order, their offsets computed.

    _struct = declarer(globals())
    _struct("LATCH", size=64, PENDING="1 until the value resolves.", OWNERS=line("Who frees it."))

defines LATCH_PENDING = 0, LATCH_OWNERS = 64, and LATCH_SIZE = 64 in the module, where native code,
the simulator, and the decoder read them as constants.  The module's `FIELDS` has the same offsets
by struct and field; the views through which Python reads native memory (`host.structs`) are built
from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Place(NamedTuple):
    """A field that does not follow the previous one."""

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


def declarer(names: dict[str, object]) -> Callable[..., None]:
    """Return the function that declares structs in the module whose globals are `names`."""
    structs: dict[str, dict[str, int]] = {}
    names["FIELDS"] = structs

    def declare(struct: str, /, *, size: int = 0, table: int = 0, **fields: str | Place) -> None:
        """Declare a struct.

        Each field has a sentence that says what it holds, or "" if its name says so.

        Args:
            size: the bytes of the whole struct; 0 if its size depends on its contents.
            table: instead, the bytes of the table that starts at the last field.
        """
        offsets, end = structs.setdefault(struct, {}), 0
        for field, what in fields.items():
            if isinstance(what, Place):
                end = -(-end // 64) * 64 if what.offset < 0 else what.offset
            offsets[field] = names[f"{struct}_{field}"] = end
            end += 8
        if size or table:
            names[f"{struct}_SIZE"] = size or end - 8 + table

    return declare
