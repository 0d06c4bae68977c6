"""From one snapshot to the next message.

A *keyframe* is a whole snapshot; the board keeps the last one as a trait, so that it also reaches a
page that is still loading.  A *delta* holds what differs from the last keyframe, never from the
last delta: a delta that is lost is made good by the next one, and after a second by a keyframe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from tfrt_magics.bridge.snapshot import OVER, Row, Section, Snapshot

KEYFRAME_SECONDS = 1.0

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class Keyframe:
    """The board starts anew from this."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Delta:
    """What to change in the last keyframe: the content of one custom message."""

    content: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Sent:
    """What the board has: its keyframe, since when, and the snapshot that it shows."""

    keyframe: Snapshot
    keyframe_time: float
    latest: Snapshot


def next_message(
    sent: Sent, now: float, snapshot: Snapshot
) -> tuple[Sent, Keyframe | Delta | None]:
    """The message that brings the board to `snapshot`, or None when it shows that already.

    The end of a run is always a keyframe, so that the final state does not hang on a delta.
    """
    if _is_same(snapshot, sent.keyframe):
        return replace(sent, latest=snapshot), _back_to(sent, snapshot)
    is_due = now - sent.keyframe_time >= KEYFRAME_SECONDS
    if is_due or snapshot.status in OVER or not _same_shape(sent.keyframe, snapshot):
        return Sent(snapshot, now, snapshot), Keyframe(snapshot)
    if _is_same(snapshot, sent.latest):
        return sent, None
    return replace(sent, latest=snapshot), Delta(delta(sent.keyframe, snapshot))


def _back_to(sent: Sent, snapshot: Snapshot) -> Delta | None:
    """A value of a loop may return to what the keyframe shows; the board must hear of that too."""
    if _is_same(sent.latest, snapshot):
        return None
    return Delta(delta(sent.keyframe, snapshot))


def _is_same(one: Snapshot, other: Snapshot) -> bool:
    # Passing time alone is no news: the page counts by itself.
    return replace(one, elapsed_ns=0) == replace(other, elapsed_ns=0)


def _same_shape(one: Snapshot, other: Snapshot) -> bool:
    return [_shape(section) for section in one.sections] == [
        _shape(section) for section in other.sections
    ]


def _shape(section: Section) -> tuple[str, ...]:
    return (section.name, *(row.name for row in section.rows))


def delta(base: Snapshot, now: Snapshot) -> dict[str, Json]:
    """What turns the JSON of `base` into the JSON of `now`, when both have the same rows.

    `log` is cut at the first number and continued with the text; `sections` are
    status and hidden values, `rows` replace by section and position.
    """
    return {
        "status": str(now.status),
        "note": now.note,
        "elapsed_ns": now.elapsed_ns,
        "log": [len(base.log), now.log[len(base.log) :]],
        "log_dropped": now.log_dropped,
        "sections": [[str(section.status), *_hidden(section)] for section in now.sections],
        "rows": _changed_rows(base, now),
    }


def _changed_rows(base: Snapshot, now: Snapshot) -> list[Json]:
    return [
        [place, position, row_json(row)]
        for place, (old, new) in enumerate(zip(base.sections, now.sections, strict=True))
        for position, row in enumerate(new.rows)
        if row != old.rows[position]
    ]


def snapshot_json(snapshot: Snapshot) -> dict[str, Json]:
    """The snapshot as the board and a saved notebook hold it."""
    sections: list[Json] = [
        {
            "name": section.name,
            "status": str(section.status),
            "hidden": _hidden(section),
            "rows": [row_json(row) for row in section.rows],
        }
        for section in snapshot.sections
    ]
    return {
        "version": 1,
        "status": str(snapshot.status),
        "note": snapshot.note,
        "work_queue": snapshot.work_queue,
        "elapsed_ns": snapshot.elapsed_ns,
        "log": snapshot.log,
        "log_dropped": snapshot.log_dropped,
        "sections": sections,
    }


def _hidden(section: Section) -> list[Json]:
    return [section.hidden.resolved, section.hidden.total]


def row_json(row: Row) -> dict[str, Json]:
    """Only what says something: a field at its default is left out."""
    present = {field.name: getattr(row, field.name) for field in fields(row)}
    return {name: _plain(value) for name, value in present.items() if value != _DEFAULTS.get(name)}


def _plain(value: Json) -> Json:
    return str(value) if isinstance(value, str) else value


_DEFAULTS: Mapping[str, object] = {
    "text": "",
    "is_result": False,
    "worker": None,
    "started_ns": None,
    "resolved_ns": None,
    "count": 1,
    "line": None,
}
