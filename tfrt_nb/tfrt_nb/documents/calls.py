"""Which operation calls an async function, where the log does not say: it has the first calls of each operation only."""

from __future__ import annotations

import re

from tfrt_nb.documents.program import ProgramDocument, Row

_CALLED = re.compile(r"\bcall @([\w$.-]+)")


class CallSites:
    """The operations of a program that call functions."""

    def __init__(self, document: ProgramDocument) -> None:
        self._callees: dict[int, str] = {}
        self._async: set[int] = set()
        self._sites: dict[str, list[int]] = {}
        for row in document.data["operations"]:
            if row["kernel"].endswith(".call") and (found := _CALLED.search(row["text"])):
                self._callees[row["id"]] = found[1]
                if row["kernel"] == "async.call":
                    self._async.add(row["id"])
                self._sites.setdefault(found[1], []).append(row["id"])

    def calls(self, operation: int, function: Row) -> bool:
        """Whether an operation calls the function."""
        return self._callees.get(operation, "") == str(function["name"])

    def is_async(self, operation: int) -> bool:
        """Whether an operation is an `async.call`."""
        return operation in self._async

    def only_call(self, function: Row) -> int:
        """The one operation that calls the function; -1 where there are several."""
        sites = self._sites.get(function["name"], [])
        return sites[0] if len(sites) == 1 else -1
