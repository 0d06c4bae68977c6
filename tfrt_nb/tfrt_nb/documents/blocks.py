"""The states of compiled operations without events, inferred from blocks.

A block logs its start. It then runs to its end unless the run fails or is cancelled. After a
failure or a cancellation, an operation is known to have run only if a later operation in its block
did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from tfrt_nb.documents.events import NUMBER
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.documents.walks import Row
from tfrt_nb.passes.log_events import COUNTED, LOGGED
from tfrt_runtime.async_runtime.objects import read_place
from tfrt_runtime.host.tracing.events import Logged

_BLOCK = NUMBER["block"]
AVAILABLE, ERROR, UNRECORDED, MORE = "available", "error", "unrecorded", "more"
"""States of an operation.

`AVAILABLE`: it ran. `ERROR`: it failed. `UNRECORDED`: it may have run. `MORE`: it may have run more
often than its events show.
"""

Block = tuple[int, int | None, int, int]
"""A block: its function, the enclosing operation or None, its region there, and its number."""


class Reached:
    """Infers which operations of compiled code have run from the blocks that have started."""

    def __init__(self, document: ProgramDocument) -> None:
        self._places = document.places
        self._rows, self._code = document.data["operations"], document.code
        self._own = [self._rows[number] for number in sorted(self._code)]
        self._jit: dict[int, int | None] = {}
        """The `tfrt.jit` that each operation is in, or None."""
        for row in self._own:
            self._jit[row["id"]] = self._jit.get(row["parent"], row["parent"])
        placed = {*self._places.values()}
        self._is_placed = all(row["id"] in placed for row in self._own)
        """Whether each operation has its own location. In a file from another tool, some may share
        one.
        """
        values = document.data["values"]
        self._async = {row["op"] for row in values if row["type"].startswith("!async.")}
        """The operations that create objects.

        These objects are resolved later, so a failed object does not stop a block.
        """
        self._operations: dict[int, int] = {}
        """The operation that each place record names."""
        self._begun: Counter[Block] = Counter()
        """How many times each block has started, according to the log."""

    def note(self, event: Logged) -> None:
        """Record a new event."""
        if event[4] != _BLOCK or not self._own:
            return
        record = event[1] | event[2] << 32
        if record not in self._operations:
            place = read_place(record)
            where = ("", 0, 0) if place is None else (place.source, place.line, place.column)
            self._operations[record] = self._places.get(where, -1)
        operation = self._operations[record]
        if operation >= 0:
            self._begun[_block_of(self._rows[operation])] += 1

    def states(
        self,
        logged: Collection[int] | None,
        failed: Collection[int],
        *,
        is_clean: bool,
        is_whole: bool,
        complete: Collection[int | None] = (),
    ) -> dict[int, str]:
        """Return the state, after the run, of each operation that ran or may have run.

        Args:
            logged: the operations that have their own events, or None if they are unknown.
            failed: the operations that failed.
            is_clean: whether nothing failed, and the run was not cancelled.
            is_whole: whether no event was lost.
            complete: each `tfrt.jit` whose results are available, which means that its region ran
                to completion.
        """
        is_whole = is_whole and self._is_placed
        found = self._certain({*(logged or ()), *failed}, failed)
        stopped: set[Block] = set()
        for row in self._own:
            number, parent, block = row["id"], row["parent"], _block_of(row)
            if number in failed and number not in self._async:
                stopped.add(block)
            if number in found:
                continue
            kernel = self._rows[parent]["kernel"] if parent in self._code else None
            is_known, begins = is_whole, block in self._begun
            # The first block of a task logs no start: the events of the task show it.
            if kernel == "async.execute" and block[3] == 0:
                is_known, begins = is_whole and logged is not None, parent in (logged or ())
            elif kernel is not None and kernel not in LOGGED | COUNTED:
                if parent in found:  # this operation's blocks are not logged
                    found[number] = found[parent]
                continue
            if begins and (is_clean or self._jit[number] in complete):
                found[number] = AVAILABLE
            elif not (is_known if not begins else block in stopped and self._begins_once(row)):
                found[number] = UNRECORDED
        if not is_clean:
            unsure = {n for n in self._async & found.keys() if self._jit[n] not in complete}
            found |= {n: UNRECORDED for n in unsure if found[n] == AVAILABLE}
        return found

    def _certain(self, ran: set[int | None], failed: Collection[int]) -> dict[int, str]:
        """Return the operations that certainly ran.

        They are those in `ran`, the operations that enclose them, and all operations that precede
        either kind in a block.
        """
        ran |= {block[1] for block in self._begun}
        found: dict[int, str] = {}
        later: set[Block] = set()
        for row in reversed(self._own):
            if row["id"] in ran or _block_of(row) in later:
                later.add(_block_of(row))
                ran.add(row["parent"])
                found[row["id"]] = ERROR if row["id"] in failed else AVAILABLE
        return found

    def _begins_once(self, row: Row) -> bool:
        """Return whether an operation's block is known to have started only once."""
        while _block_of(row)[3] == 0 and row["parent"] in self._code:
            row = self._rows[row["parent"]]
            if row["kernel"] in COUNTED or row["kernel"] == "scf.while":
                return False
        return _block_of(row)[3] == 0 and self._begun[_block_of(row)] == 1


def _block_of(row: Row) -> Block:
    return row["function"], row["parent"], row["region"], row.get("block", 0)
