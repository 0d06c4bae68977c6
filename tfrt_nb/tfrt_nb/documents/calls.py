"""Which operation has called an async function: the core says which function it is, not from where it was called."""

from __future__ import annotations

import re
from collections import Counter

from tfrt_nb.documents.program import ProgramDocument, Row

_CALLED = re.compile(r"\basync\.call @([\w$.-]+)")

Caller = int
"""A task, as the id of its operation; or a function, as -1 - id."""


class CallSites:
    """The operations of a program that call async functions, by function and by who calls.

    Where one body calls a function in several places, these take turns, as the operations of a block do.
    """

    def __init__(self, document: ProgramDocument) -> None:
        self._operations = document.data["operations"]
        self._sites: dict[tuple[Caller, str], list[Row]] = {}
        self._all: dict[str, list[Row]] = {}
        self._turns: Counter[tuple[Caller, int, str]] = Counter()
        holders = {row["id"]: self._holder(row) for row in self._operations}
        kernels = [(holders[row["id"]], row["kernel"]) for row in self._operations]
        self._waiting = {holder for holder, kernel in kernels if kernel.startswith("async.await")}
        self._jumping = {holder for holder, kernel in kernels if kernel.startswith("cf.")}
        for row in self._operations:
            if row["kernel"] == "async.call" and (found := _CALLED.search(row["text"])):
                self._all.setdefault(found[1], []).append(row)
                self._sites.setdefault((holders[row["id"]], found[1]), []).append(row)

    def next(self, caller: Caller, instance: int, function: Row) -> int:
        """The operation by which an instance of `caller` has called `function`; -1 where that is not known."""
        everywhere = self._all.get(function["name"], [])
        if len(everywhere) == 1:
            return int(everywhere[0]["id"])
        here = self._sites.get((caller, function["name"]), [])
        if not here or self._is_unsteady(caller, function, here):
            return -1
        turn = caller, instance, function["name"]
        self._turns[turn] += 1
        return int(here[(self._turns[turn] - 1) % len(here)]["id"])

    def certain(self, caller: Caller) -> list[int]:
        """The calls of async functions that are made whenever `caller` runs to its end."""
        if caller in self._jumping:
            return []
        sites = [
            row for (holder, _), rows in self._sites.items() if holder == caller for row in rows
        ]
        return [int(row["id"]) for row in sites if row["parent"] is None]

    def _is_unsteady(self, caller: Caller, function: Row, sites: list[Row]) -> bool:
        """Whether not all of these run in turn: some are in a branch, or may be plain calls that make no object."""
        if len(sites) == 1:
            return False
        regions = {(row["parent"], row["region"]) for row in sites}
        return (
            len(regions) > 1 or caller in self._jumping or -1 - function["id"] not in self._waiting
        )

    def _holder(self, row: Row) -> Caller:
        while row["parent"] is not None:
            row = self._operations[row["parent"]]
            if row["kernel"] == "async.execute":
                return int(row["id"])
        return -1 - int(row["function"])
