"""Tokens, values and groups as Python sees them: what they are, what made them, what they lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tfrt_runtime.async_runtime import records
from tfrt_runtime.diagnostics import Diagnostic, Location, error, note
from tfrt_runtime.host.structs import Group, Value, Waiter
from tfrt_runtime.host.values.async_value import State
from tfrt_runtime.native import layouts as at


@dataclass(frozen=True, slots=True)
class LiveObject:
    """A token, value or group that still has references: what made it, and what it is now."""

    kind: str
    references: int
    state: State
    maker: str | None = None
    location: Location | None = None
    address: int = field(default=0, compare=False)
    """Where the object is; it says nothing once the object may be gone."""
    reason: Diagnostic | None = field(default=None, compare=False)
    """What was said when nothing could resolve it any more, if that is why it is an error."""


def is_group(address: int) -> bool:
    """Whether the object is a group."""
    return Value.at(address).payload_type == at.TYPE_GROUP


def lacks_members(address: int) -> bool:
    """Whether a group is not resolved and could get more members."""
    is_open, group = Value.at(address).state & at.STATE_BITS < at.CONCRETE, Group.at(address)
    return is_open and group.added < group.size


def underfilled(address: int, notes: Sequence[Diagnostic] = ()) -> Diagnostic:
    """Why a group will never be resolved; `notes` are on what waits for it."""
    group = Group.at(address)
    text = f"the group waits forever: {group.added} of {group.size} members were added"
    return error(text, maker_place(address), notes)


def overfilled(address: int) -> Diagnostic:
    """Why a group fails that got more members than it has room for: at the addition, if it is known."""
    group = Group.at(address)
    text = f"the group is full: it has room for {group.size}"
    if not group.excess:
        return error(text, maker_place(address))
    made_here = note("the group is made here", maker_place(address))
    return error(text, records.read_place(group.excess), [made_here])


def kind(address: int) -> str:
    """Token, value or group."""
    number = Value.at(address).payload_type
    return {at.TYPE_CHAIN: "token", at.TYPE_GROUP: "group"}.get(number, "value")


def title(address: int) -> str:
    """The object in a message: what it is, and whose."""
    if address == 0:
        return "an object"
    made_by = maker(address)
    return f"a {kind(address)}" if made_by is None else f"a {kind(address)} of '{made_by}'"


def maker(address: int) -> str | None:
    """The operation that made an object, if it says so."""
    record = Value.at(address).owner
    return (records.read_text(record) or None) if record else None


def maker_place(address: int) -> Location | None:
    """Where that operation is."""
    record = Value.at(address).owner if address else 0
    return records.read_place(record) if record else None


def follows_from_others(address: int) -> bool:
    """Whether the end of a task, or the members of a group, resolve the object, not an operation of the program."""
    return is_group(address) or maker(address) in _TASKS


_TASKS = frozenset({"async.execute", "async.func"})


def waiting_places(address: int) -> Iterator[Location]:
    """Where tasks wait for an object; nothing runs."""
    waiter = Value.at(address).state & ~at.STATE_BITS
    while waiter:
        found = Waiter.at(waiter)
        if (
            found.kind == at.WAIT_TASK
            and found.place
            and (place := records.read_place(found.place))
        ):
            yield place
        waiter = found.next


def note_on_wait(awaited: int, record: int) -> Diagnostic:
    """That a thread waits for an object, whose maker's record it is."""
    maker = records.read_text(record)
    title = f"{kind(awaited)} of '{maker}'" if maker else kind(awaited)
    return note(f"a thread waits for this {title}", records.read_place(record))


def references(address: int) -> int:
    """References to a registered object, apart from the list's."""
    return Value.at(address).references - 1


def live_object(address: int, reason: Diagnostic | None = None) -> LiveObject:
    """The registered object as it is now; `reason` says why nothing could resolve it, if so."""
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
    """What the object is now."""
    return _STATES[Value.at(address).state & at.STATE_BITS]


_STATES = (State.UNAVAILABLE, State.UNAVAILABLE, State.AVAILABLE, State.ERROR)
"""By the two bits of a value's state."""
