"""The live board, without a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tfrt_magics.bridge.stream import Delta, Keyframe, snapshot_json
from tfrt_magics.views.board import Board

from tfrt_magics.bridge.snapshot import Snapshot, Status

FIRST = Snapshot(Status.RUNNING, ())
LATER = Snapshot(Status.RUNNING, (), log="later")


@dataclass
class Source:
    current: Snapshot = FIRST

    def snapshot(self) -> Snapshot:
        return self.current


@pytest.fixture
def calls() -> list[object]:
    return []


@pytest.fixture
def board(calls, monkeypatch) -> Iterator[Board]:
    board = Board(Source(), cancel=lambda: calls.append("cancel"), end=calls.append)
    monkeypatch.setattr(board, "send", calls.append)
    yield board
    board.close()


def test_a_page_that_asks_for_everything_is_given_the_present(board) -> None:
    board._source.current = LATER
    assert board.get_state()["snapshot"] == snapshot_json(LATER)
    assert board.get_state("snapshot") == {"snapshot": snapshot_json(FIRST)}


def test_keyframes_are_kept_and_deltas_are_only_sent(board, calls) -> None:
    board.show(Delta({"log": [0, "x"]}))
    board.show(Keyframe(LATER))
    assert calls == [{"kind": "delta", "log": [0, "x"]}]
    assert board.snapshot == snapshot_json(LATER)


def test_the_reader_may_cancel_and_nothing_else(board, calls) -> None:
    for kind in ("cancel", "nonsense"):
        board._handle_custom_msg({"kind": kind}, [])
    assert calls == ["cancel"]


def test_the_end_is_told_once(board, calls) -> None:
    board.end(LATER)
    assert calls == [LATER]
