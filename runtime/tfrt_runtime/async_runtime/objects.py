"""Tokens, values and groups as Python sees them: what they are, what made them, what they lack."""

from __future__ import annotations

from dataclasses import dataclass, field

from tfrt_runtime.async_runtime import records
from tfrt_runtime.diagnostics import Diagnostic, Location, error, note
from tfrt_runtime.host.raw import WORDS
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


def is_group(address: int) -> bool:
    """Whether the object is a group."""
    return WORDS[(address + at.VALUE_KIND) >> 3] >> 8 == at.TYPE_GROUP


def lacks_members(group: int) -> bool:
    """Whether a group is not resolved and could get more members."""
    is_open = WORDS[(group + at.VALUE_STATE) >> 3] & at.STATE_BITS < at.CONCRETE
    return is_open and WORDS[(group + at.GROUP_ADDED) >> 3] < WORDS[(group + at.GROUP_SIZE) >> 3]


def underfilled(group: int) -> Diagnostic:
    """Why a group will never be resolved."""
    added, size = WORDS[(group + at.GROUP_ADDED) >> 3], WORDS[(group + at.GROUP_SIZE) >> 3]
    return error(
        f"the group waits forever: {added} of {size} members were added", maker_place(group)
    )


def overfilled(group: int) -> Diagnostic:
    """Why a group fails that got more members than it has room for: at the addition, if it is known."""
    size, record = WORDS[(group + at.GROUP_SIZE) >> 3], WORDS[(group + at.GROUP_EXCESS) >> 3]
    made_here = note("the group is made here", maker_place(group))
    place = records.read_place(record) if record else maker_place(group)
    return error(f"the group is full: it has room for {size}", place, [made_here] if record else ())


def kind(address: int) -> str:
    """Token, value or group."""
    number = WORDS[(address + at.VALUE_KIND) >> 3] >> 8
    return {at.TYPE_CHAIN: "token", at.TYPE_GROUP: "group"}.get(number, "value")


def title(address: int) -> str:
    """The object in a message: what it is, and whose."""
    if address == 0:
        return "an object"
    made_by = maker(address)
    return f"a {kind(address)}" if made_by is None else f"a {kind(address)} of '{made_by}'"


def maker(address: int) -> str | None:
    """The operation that made an object, if it says so."""
    record = WORDS[(address + at.VALUE_OWNER) >> 3]
    return (records.read_text(record) or None) if record else None


def maker_place(address: int) -> Location | None:
    """Where that operation is."""
    record = WORDS[(address + at.VALUE_OWNER) >> 3] if address else 0
    return records.read_place(record) if record else None


def note_on_wait(awaited: int, record: int) -> Diagnostic:
    """That a thread waits for an object, whose maker's record it is."""
    maker = records.read_text(record)
    title = f"{kind(awaited)} of '{maker}'" if maker else kind(awaited)
    return note(f"a thread waits for this {title}", records.read_place(record))


def references(address: int) -> int:
    """References to a registered object, apart from the list's."""
    return WORDS[(address + at.VALUE_REFERENCES) >> 3] - 1


def live_object(address: int) -> LiveObject:
    """The registered object as it is now."""
    return LiveObject(
        kind(address),
        references(address),
        state(address),
        maker(address),
        maker_place(address),
        address,
    )


def state(address: int) -> State:
    """What the object is now."""
    return _STATES[WORDS[(address + at.VALUE_STATE) >> 3] & at.STATE_BITS]


_STATES = (State.UNAVAILABLE, State.UNAVAILABLE, State.AVAILABLE, State.ERROR)
"""By the two bits of a value's state."""
