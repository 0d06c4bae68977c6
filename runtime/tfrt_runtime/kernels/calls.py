"""The calls around a kernel, for the notes of its error.

d.mlir:17:14: error: runtime error: Divide by zero
d.mlir:5:8: note: @stop was called here
d.mlir:10:8: note: @down was called here (10000 nested calls)
d.mlir:5:8: note: @go was called here (10000 nested calls)
d.mlir:22:8: note: @down was called here
"""

from __future__ import annotations

from collections import Counter

from tfrt_runtime.diagnostics import Diagnostic, note
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.structs import Activation, Context, Function, words_at
from tfrt_runtime.native import layouts as at

_MAX_CALLS = 8
"""The maximum number of calls that the notes of an error name."""


def calls_around(context: int) -> tuple[Diagnostic, ...]:
    """Return notes that name the calls around the kernel that is running in `context`.

    The innermost call comes first.  All calls of a function at the same place, as in a recursion,
    share one note.  Regions of an operation, such as the body of a loop, have no note.
    """
    counts: Counter[tuple[int, int]] = Counter()
    inner = Activation.at(Context.at(context).activation)
    while (kind := inner.return_) != at.RETURN_ROOT:
        record, caller = inner.caller_record, inner.caller
        if kind != at.RETURN_CALL:  # a loop or a join, which both start with these two words
            caller, record = words_at(record + at.LOOP_CALLER, 2)
        counts[record, Function.at(inner.function).handle] += 1
        inner = Activation.at(caller)
    notes = []
    for (record, function), count in counts.items():
        owner, number = native_process().owner_of(record)
        if name := owner.function_name(function):
            times = f" ({count} nested calls)" if count > 1 else ""
            notes.append(note(f"@{name} was called here{times}", owner.location_of(number)))
    more = [note(f"and {len(notes) - _MAX_CALLS} more calls")] if notes[_MAX_CALLS:] else []
    return (*notes[:_MAX_CALLS], *more)
