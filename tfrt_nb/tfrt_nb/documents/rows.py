"""The rows of a program's document: its functions, operations, and values."""

from __future__ import annotations

import re
from typing import Any

from tfrt_nb.dialects.control_flow.regions import JitOp
from tfrt_nb.documents.escapes import first_line, label

Row = dict[str, Any]
CHAINS = ("!tfrt.chain", "!async.token")
_LOCATION = re.compile(r'\s*loc\((?:"[^"\n]*"|\w[^"\n]*)[^\n]*\)$')
"""Matches the location at the end of an operation's text, which a picture has no room for.
"""


class Rows:
    """The three lists under construction."""

    def __init__(self) -> None:
        self.functions: list[Row] = []
        self.operations: list[Row] = []
        self.values: list[Row] = []

    def add_value(self, name: str, type_: str, function: int, operation: int | None = None) -> int:
        number = len(self.values)
        self.values.append(
            {
                "id": number,
                "name": label(name),
                "type": label(type_),
                "chain": type_ in CHAINS,
                "op": operation,
                "function": function,
            }
        )
        return number

    def add_function(self, name: str, kind: str, line: int) -> Row:
        row: Row = {
            "id": len(self.functions),
            "name": label(name),
            "kind": kind,
            "line": line,
            "end_line": line,
            "arguments": [],
            "results": [],
            "result_types": [],
        }
        self.functions.append(row)
        return row

    def add_operation(
        self, kernel: str, text: str, owner: Owner, place: tuple[int, int, int, int]
    ) -> Row:
        line, column, end_line, end_column = place
        row: Row = {
            "id": len(self.operations),
            "kernel": label(kernel),
            "text": first_line(_LOCATION.sub("", text)),
            "function": owner.function,
            "parent": owner.parent,
            "region": owner.region,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
            "operands": [],
            "results": [],
            "regions": [],
        }
        self.operations.append(row)
        return row


class Owner:
    """The owner of a walk's current body: a function, or a region of an operation.

    `row` receives the `arguments` and `results` of the body.  `jit` is the enclosing `tfrt.jit`, if
    any.
    """

    __slots__ = ("function", "jit", "parent", "region", "row")

    def __init__(
        self,
        row: Row,
        function: int,
        parent: int | None = None,
        region: int = 0,
        jit: JitOp | None = None,
    ) -> None:
        self.row, self.function, self.parent, self.region = row, function, parent, region
        self.jit = jit
