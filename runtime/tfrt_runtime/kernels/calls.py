"""The calls that led to a kernel, which the notes of its error list.

d.mlir:17:14: error: runtime error: Divide by zero
d.mlir:5:8: note: @stop was called here
d.mlir:10:8: note: @down was called here (10000 nested calls)
d.mlir:5:8: note: @go was called here (10000 nested calls)
d.mlir:22:8: note: @down was called here
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tfrt_runtime.diagnostics import Diagnostic, note
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import Activation, Context, Function, words_at
from tfrt_runtime.native import layouts as at

FEW = 16
"""How many calls to record for a kernel that may never fail, or for a run with many errors."""
_MANY = 10
_MAX_NOTES = 8


@dataclass(frozen=True, slots=True)
class Calls:
    """The chain of function calls that leads to a kernel, for notes in its error messages.

    `places` contains a program, the number of a kernel in it, the name of the function that this
    kernel calls, and the number of such calls.  The innermost call comes first.  All calls of a
    function at the same place, as in a recursion, are one entry.
    """

    places: tuple[tuple[Any, int, str, int], ...]
    has_more: bool
    """Whether outer calls exist that were not recorded."""

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Notes that name the calls, for an error.

        An operation's regions, such as a loop's body, get no note.
        """
        notes = [
            note(
                f"@{name} was called here{f' ({count} nested calls)' if count > 1 else ''}",
                program.location_of(number),
            )
            for program, number, name, count in self.places
            if name
        ]
        more = len(notes) - _MAX_NOTES
        if more > 0:
            notes[_MAX_NOTES:] = [note(f"and {more} more calls")]
        return (*notes, note("and more calls")) if self.has_more else tuple(notes)


_NO_CALLS = Calls((), has_more=False)


def calls_around(context: int, most: int) -> Calls:
    """Return the innermost `most` calls around the kernel that is running in `context`."""
    inner = Activation.at(Context.at(context).activation)
    if inner.return_ == at.RETURN_ROOT:  # shared, because thousands of such frames may be pending
        return _NO_CALLS
    counts: Counter[tuple[int, int]] = Counter()
    while (kind := inner.return_) != at.RETURN_ROOT and most > 0:
        record, caller = inner.caller_record, inner.caller
        if kind != at.RETURN_CALL:  # a loop or a join, which both start with these two words
            caller, record = words_at(record + at.LOOP_CALLER, 2)
        counts[record, Function.at(inner.function).handle] += 1
        inner = Activation.at(caller)
        most -= 1
    places = []
    for (record, function), count in counts.items():
        program, number = native_process().owner_of(record)
        places.append((program, number, program.function_name(function), count))
    return Calls(tuple(places), kind != at.RETURN_ROOT)


def notes_around(context: int, request: Request) -> tuple[Diagnostic, ...]:
    """Return notes that name the calls around the kernel that fails in `context`.

    `request` is the kernel's run.  Only the run's first errors name all calls: if every call in a
    deep recursion failed, the time would otherwise grow with the square of the depth.
    """
    most = FEW if request.diagnostics[_MANY:] else sys.maxsize
    return calls_around(context, most).notes
