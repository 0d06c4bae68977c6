"""The file format of run documents: small ones are JSON text, others are deflated, with long lists
as columns.

A busy page takes tens of milliseconds to inflate anything, but reads a small text at once.  Tables
of a program become columns, in which numbers are written as differences and repeated items only
once; `document.js` converts them back to rows, and also reads documents with rows, which earlier
builds saved.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from operator import sub
from typing import Any

# The longest JSON that is not deflated, in characters.
SMALL = 6_000

_Row = Mapping[str, Any]


class Writer:
    """Writes files with a common beginning, which is encoded and deflated once.  One thread at a
    time may use it."""

    def __init__(self, beginning: _Row) -> None:
        """`beginning` is the part of the body that all files share."""
        self._first = _json(compact(beginning))[:-1]

    def written(self, rest: _Row) -> dict[str, Any]:
        """Return the body for a file: its JSON as `body`, or deflated and in base64 as `packed`."""
        last = (b"," if rest and len(self._first) > 1 else b"") + _json(compact(rest))[1:]
        if len(self._first) + len(last) <= SMALL:
            return {"body": (self._first + last).decode()}
        compressor, deflated = self._deflated
        compressor = compressor.copy()
        packed = b"".join((deflated, compressor.compress(last), compressor.flush()))
        return {"packed": base64.b64encode(packed).decode()}

    @cached_property
    def _deflated(self) -> tuple[Any, bytes]:
        compressor = zlib.compressobj(4)
        return compressor, compressor.compress(self._first)


def compact(body: _Row) -> dict[str, Any]:
    """Return `body` with the rows of its program, layout, and events as columns."""
    found = dict(body)
    if program := body.get("program"):
        lines = body.get("source", "").split("\n")
        tables = {name: _table(program[name], lines) for name in ("operations", "values")}
        found["program"] = {**program, **tables}
    for name in ("layout", "events"):
        if lists := body.get(name):
            found[name] = {key: column(items) for key, items in lists.items()}
    return found


def column(items: Sequence[Any]) -> Any:
    """Shorten a list, if possible: a single item for all, or the differences of numbers."""
    if len(items) < 2:
        return items
    kinds = set(map(type, items))
    if len(kinds) == 1 and items.count(items[0]) == len(items):
        return {"same": items[0], "count": len(items)}
    if kinds <= {int, float}:
        steps = [items[0], *map(sub, items[1:], items)]
        if float not in kinds:
            return {"steps": steps}
        # Differences of fractions need not be exact.
        if list(accumulate(steps)) == items:
            return {"steps": [int(step) if step == int(step) else step for step in steps]}
    return items


def _table(rows: Sequence[_Row], lines: Sequence[str]) -> dict[str, Any]:
    """Convert rows whose `id` is their position to columns.

    A field that some rows lack lists the positions of the others.  Texts that are in `lines`, the
    program's own, at the locations of their rows, are omitted.
    """
    columns = {}
    for name in dict.fromkeys(name for keys in {tuple(row) for row in rows} for name in keys):
        at = [place for place, row in enumerate(rows) if name in row]
        if name == "text":
            at = [place for place in at if not _is_in(rows[place], lines)]
        items = column([rows[place][name] for place in at])
        columns[name] = items if len(at) == len(rows) else {"places": column(at), "items": items}
    columns.pop("id", None)
    return {"count": len(rows), "columns": columns}


def _is_in(row: _Row, lines: Sequence[str]) -> bool:
    line = lines[row["line"] - 1] if 0 < row["line"] == row["end_line"] <= len(lines) else ""
    # Pages count non-ASCII characters differently.
    return line.isascii() and line[row["column"] - 1 : row["end_column"] - 1] == row["text"]


def _json(body: _Row) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
