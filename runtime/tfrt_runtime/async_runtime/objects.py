"""Describe compiled code's objects: tokens, values, and groups.

Each object refers to a record in the compiled code's memory.  The record says which operation
created the object, and where that operation is in the program.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tfrt_runtime.diagnostics import Diagnostic, Location, error, note
from tfrt_runtime.host.structs import Group, Value, Waiter
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.native import layouts as at

UNKNOWN = "an async operation failed"


class _Record(ctypes.Structure):
    """A record in the compiler's format.  Line 0 means that the place is unknown."""

    _fields_ = (
        ("text", ctypes.c_int64),
        ("length", ctypes.c_int64),
        ("file", ctypes.c_int64),
        ("file_length", ctypes.c_int64),
        ("line", ctypes.c_int64),
        ("column", ctypes.c_int64),
    )


def read_text(record: int) -> str:
    """Return the message in the record at this address."""
    found = _Record.from_address(record)
    return _string(found.text, found.length)


def read_place(record: int) -> Location | None:
    """Return the place in the record, or None if it is unknown."""
    found = _Record.from_address(record)
    if found.line <= 0:
        return None
    return Location(_string(found.file, found.file_length), found.line, found.column)


def read_error(record: int) -> Diagnostic:
    """Return an error with the record's text and place.  If `record` is 0, no record exists."""
    return error(read_text(record), read_place(record)) if record else error(UNKNOWN)


def _string(start: int, length: int) -> str:
    return ctypes.string_at(start, length).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class LiveObject:
    """A token, value, or group that still has references.

    `maker` is the operation that made the object, and `location` is the place of the operation.
    """

    kind: str
    references: int
    state: State
    maker: str | None = None
    location: Location | None = None
    address: int = field(default=0, compare=False)
    """The object's address, which is meaningless if the object may have been freed."""
    reason: Diagnostic | None = field(default=None, compare=False)
    """Why nothing could resolve the object, if it became an error for that reason."""


def is_group(address: int) -> bool:
    """Return whether the object is a group."""
    return Value.at(address).payload_type == at.TYPE_GROUP


def lacks_members(address: int) -> bool:
    """Return whether a group is unresolved and has fewer members than its size."""
    is_open, group = Value.at(address).state & at.STATE_BITS < at.CONCRETE, Group.at(address)
    return is_open and group.added < group.size


def underfilled(address: int, notes: Sequence[Diagnostic] = ()) -> Diagnostic:
    """Return the error for a group that will never be resolved; `notes` are about its waiters."""
    group = Group.at(address)
    text = f"the group waits forever: it has only {group.added} of {group.size} members"
    return error(text, maker_place(address), notes)


def overfilled(address: int) -> Diagnostic:
    """Return the error for a group to which more members were added than its size allows.

    The error is located at the addition, if that place is known.
    """
    group = Group.at(address)
    text = f"the group is full: it has room for {group.size}"
    if not group.excess:
        return error(text, maker_place(address))
    made_here = note("the group is created here", maker_place(address))
    return error(text, read_place(group.excess), [made_here])


def kind(address: int) -> str:
    """Return "token", "value", or "group"."""
    number = Value.at(address).payload_type
    return {at.TYPE_CHAIN: "token", at.TYPE_GROUP: "group"}.get(number, "value")


def title(address: int, joint: str = "of") -> str:
    """Return the object's name in a message: its kind, and its maker after the word `joint`."""
    # If the object may already have been freed, `last_reference` reports 0.
    if address == 0:
        return "an object"
    made_by = maker(address)
    return f"a {kind(address)}" if made_by is None else f"a {kind(address)} {joint} '{made_by}'"


def maker(address: int) -> str | None:
    """Return the operation that made an object, or None if the object's record does not name it."""
    record = Value.at(address).owner
    return (read_text(record) or None) if record else None


def maker_place(address: int) -> Location | None:
    """Return the place of the operation that made an object."""
    record = Value.at(address).owner if address else 0
    return read_place(record) if record else None


def follows_from_others(address: int) -> bool:
    """Return whether the object is resolved when a task finishes or a group is complete.

    Otherwise, an operation of the program resolves it.
    """
    return is_group(address) or maker(address) in _TASKS


_TASKS = frozenset({"async.execute", "async.func"})


def waiting_places(address: int) -> Iterator[Location]:
    """Yield the places where tasks wait for an object.

    Call this function only while nothing is running.
    """
    waiter = Value.at(address).state & ~at.STATE_BITS
    while waiter:
        found = Waiter.at(waiter)
        if found.kind == at.WAIT_TASK and found.place and (place := read_place(found.place)):
            yield place
        waiter = found.next


def note_on_wait(awaited: int, record: int) -> Diagnostic:
    """Return a note that a thread waits for `awaited`; `record` describes the object's maker."""
    maker = read_text(record)
    title = f"{kind(awaited)} of '{maker}'" if maker else kind(awaited)
    return note(f"a thread is waiting for this {title}", read_place(record))


def references(address: int) -> int:
    """Return how many references a registered object has.

    The reference that the list of registered objects holds is not counted.
    """
    return Value.at(address).references - 1


def live_object(address: int, reason: Diagnostic | None = None) -> LiveObject:
    """Return a description of a registered object in its current state.

    `reason` says why nothing could resolve the object, or is None.
    """
    return LiveObject(
        kind(address),
        references(address),
        state(address),
        maker(address),
        maker_place(address),
        address,
        reason,
    )


def state(address: int) -> State:
    """Return the current state of the object."""
    return _STATES[Value.at(address).state & at.STATE_BITS]


_STATES = (State.UNAVAILABLE, State.UNAVAILABLE, State.AVAILABLE, State.ERROR)
"""The names of the states, indexed by a value's two state bits."""
