"""Determine which operations can be swapped without an effect on any thread.

Every operation touches some places, each in one way. Two neighboring operations of different
threads that conflict in no place lead to the same state in either order, so one order represents
both.

A place is an address, or an odd number next to one for the queue of sleepers of a futex.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from tests.simulator.threads import Kind, Thread

FENCES = 1
"""The place of sequentially consistent fences: they have one order."""
NOTES = 3
"""The place of the scenario's notes."""


class Way(IntEnum):
    """How an operation touches a place.

    FOLLOW depends on a write, and cannot precede it. OBSERVE reads one message of its choice: it
    commutes with every write except the one that it reads, but a write adds another choice. READ
    reads the newest value, and WRITE creates a new one.
    """

    FOLLOW = 0
    OBSERVE = 1
    READ = 2
    WRITE = 3


class Access(NamedTuple):
    """One operation on one place. `version` numbers the value that was read or written."""

    place: int
    way: Way
    version: int = 0


def queue_of(address: int) -> int:
    """Return the place that represents the threads that sleep on the futex at `address`."""
    return address + 1


def conflict(first: Way, second: Way) -> bool:
    """Return whether the order of two operations on one place affects their results."""
    return (first is Way.WRITE and second >= Way.READ) or (
        second is Way.WRITE and first >= Way.READ
    )


def footprint(thread: Thread, load: Way) -> list[tuple[int, Way]]:
    """Return the places that the next operation of `thread` may touch, and how.

    `load` is the way of loads.
    """
    kind = thread.kind
    if kind is Kind.FENCE:
        return [(FENCES, Way.WRITE)]
    if kind is Kind.PAUSE:
        return [(word.address, Way.READ) for word in thread.observed]
    if thread.word is None:
        return [(NOTES, Way.WRITE)]
    place = thread.word.address
    if kind is Kind.LOAD:
        return [(place, load)]
    if kind is Kind.STORE or kind is Kind.UPDATE:
        return [(place, Way.WRITE)]
    if kind is Kind.FUTEX_WAIT:
        return [(place, Way.READ), (queue_of(place), Way.WRITE)]
    return [(queue_of(place), Way.WRITE)]
