"""From snapshots to messages, and back to what a board shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tfrt_magics.bridge.stream import (
    KEYFRAME_SECONDS,
    Delta,
    Keyframe,
    Sent,
    delta,
    next_message,
    snapshot_json,
)

from tfrt_magics.bridge.snapshot import Progress, Row, Section, Snapshot, State, Status

ROW = Row("%a", "i32", State.UNAVAILABLE)
RUNNING = Snapshot(Status.RUNNING, (Section("main", Status.RUNNING, (ROW,)),))


def apply(base: dict, change: dict) -> dict:
    """What `applyDelta` in board.js does; the browser test runs the same cases through it."""
    sections = [
        {**section, "status": status, "hidden": hidden, "rows": list(section["rows"])}
        for section, (status, *hidden) in zip(base["sections"], change["sections"], strict=True)
    ]
    for place, position, row in change["rows"]:
        sections[place]["rows"][position] = row
    scalars = {name: change[name] for name in ("status", "note", "elapsed_ns", "log_dropped")}
    log = base["log"][: change["log"][0]] + change["log"][1]
    return {**base, **scalars, "sections": sections, "log": log}


rows = st.builds(
    Row,
    name=st.sampled_from(["%a", "%b"]),
    type=st.just("i32"),
    state=st.sampled_from(State),
    text=st.text(max_size=3),
    resolved_ns=st.none() | st.integers(0, 9),
    count=st.integers(1, 3),
)
sections = st.builds(
    Section,
    st.just("main"),
    st.sampled_from(Status),
    st.lists(rows, max_size=3).map(tuple),
    st.builds(Progress, st.integers(0, 2), st.just(2)),
)


@st.composite
def runs(draw: st.DrawFn) -> list[Snapshot]:
    """A run from its first snapshot to its last: the log grows, and the end is an end."""
    lists = st.lists(sections, max_size=2).map(tuple)
    looks = draw(st.lists(st.tuples(lists, st.text(max_size=3)), max_size=6))
    log, snapshots = "", []
    for current, printed in [((), ""), *looks]:
        log += printed
        snapshots.append(Snapshot(Status.RUNNING, current, log=log))
    return [*snapshots, replace(snapshots[-1], status=Status.DONE)]


@given(runs(), st.data())
def test_a_board_shows_each_snapshot_even_when_deltas_were_lost(
    run: list[Snapshot], data: st.DataObject
) -> None:
    shown = keyframe = snapshot_json(run[0])
    sent, now = Sent(run[0], 0.0, run[0]), 0.0
    for snapshot in run[1:]:
        now += data.draw(st.sampled_from([0.03, 0.6]))
        sent, message = next_message(sent, now, snapshot)
        if isinstance(message, Keyframe):
            shown = keyframe = snapshot_json(message.snapshot)
        elif message is not None and data.draw(st.booleans(), label="arrives"):
            shown = apply(keyframe, message.content)
        elif message is not None:
            continue  # lost: what is shown stays behind until the next message
        if sent.latest == snapshot and message is not None:
            assert shown == snapshot_json(snapshot)
    assert shown == snapshot_json(run[-1])


def test_a_delta_holds_only_what_differs_from_the_keyframe() -> None:
    done = replace(ROW, state=State.AVAILABLE, text="3", resolved_ns=7)
    other = Row("%b", "i32", State.UNAVAILABLE)
    base = Snapshot(Status.RUNNING, (Section("main", Status.RUNNING, (other, ROW)),), log="one\n")
    now = Snapshot(
        Status.RUNNING, (Section("main", Status.RUNNING, (other, done)),), log="one\ntwo\n"
    )

    assert delta(base, now) == {
        "status": "running",
        "note": "",
        "elapsed_ns": 0,
        "log": [4, "two\n"],
        "log_dropped": 0,
        "sections": [["running", 0, 0]],
        "rows": [
            [
                0,
                1,
                {"name": "%a", "type": "i32", "state": "available", "text": "3", "resolved_ns": 7},
            ]
        ],
    }


def test_passing_time_alone_is_no_news() -> None:
    sent = Sent(RUNNING, 0.0, RUNNING)
    later = replace(RUNNING, elapsed_ns=10**9)
    assert next_message(sent, 5.0, later)[1] is None


def test_a_value_that_returns_to_the_keyframe_is_sent_again() -> None:
    changed = replace(RUNNING, log="x")
    sent = Sent(RUNNING, 0.0, changed)
    assert next_message(sent, 0.1, RUNNING)[1] == Delta(delta(RUNNING, RUNNING))


def _with(status: Status, *rows: Row) -> Snapshot:
    return Snapshot(status, (Section("main", status, rows),))


@pytest.mark.parametrize(
    ("now", "snapshot"),
    [
        pytest.param(KEYFRAME_SECONDS, replace(RUNNING, log="x"), id="after a second"),
        pytest.param(0.1, _with(Status.RUNNING, ROW, ROW), id="when rows appear"),
        pytest.param(0.1, replace(RUNNING, status=Status.DONE), id="at the end"),
    ],
)
def test_a_keyframe_is_sent(now: float, snapshot: Snapshot) -> None:
    sent = Sent(RUNNING, 0.0, RUNNING)
    assert next_message(sent, now, snapshot) == (
        Sent(snapshot, now, snapshot),
        Keyframe(snapshot),
    )
