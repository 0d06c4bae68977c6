"""The thread that feeds the boards, moved by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from tfrt_magics.bridge.stream import Delta, Keyframe

from tfrt_magics.bridge.pump import INTERVAL_SECONDS, Pump
from tfrt_magics.bridge.snapshot import Row, Section, Snapshot, State, Status


def snapshot_of(*texts: str, status: Status = Status.RUNNING) -> Snapshot:
    rows = tuple(Row(f"%{place}", "i32", State.AVAILABLE, text) for place, text in enumerate(texts))
    return Snapshot(status, (Section("main", status, rows),))


@dataclass
class Source:
    """A job that the test changes."""

    current: Snapshot

    def snapshot(self) -> Snapshot:
        return self.current


@dataclass
class Sink:
    messages: list = field(default_factory=list)
    ends: list = field(default_factory=list)

    def show(self, message) -> None:
        self.messages.append(message)

    def end(self, snapshot) -> None:
        self.ends.append(snapshot)


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_four_thousand_updates_a_second_are_at_most_thirty_messages_and_end_exactly() -> None:
    clock, sink = Clock(), Sink()
    source = Source(snapshot_of(*["0"] * 64))
    pump = Pump(clock)
    pump.add(source, sink, source.current)
    texts = ["0"] * 64
    next_look = 0.0
    for update in range(4000):
        clock.now = update / 4000
        texts[update % 64] = str(update)
        source.current = snapshot_of(*texts)
        if clock.now >= next_look:
            next_look = clock.now + pump.step()
    during = len(sink.messages)
    source.current = snapshot_of(*texts, status=Status.DONE)

    assert pump.step() is None
    assert during <= 30
    assert sink.messages[-1] == Keyframe(source.current)
    assert sink.ends == [source.current]


def test_the_latest_value_wins() -> None:
    source, sink, pump = Source(snapshot_of("0")), Sink(), Pump(Clock())
    pump.add(source, sink, source.current)
    for text in ("1", "2", "3"):
        source.current = snapshot_of(text)
    pump.step()

    assert [message.content["rows"] for message in sink.messages] == [
        [[0, 0, {"name": "%0", "type": "i32", "state": "available", "text": "3"}]]
    ]


def test_looking_at_a_large_program_takes_at_most_a_tenth_of_the_time() -> None:
    clock = Clock()

    class Slow(Source):
        def snapshot(self) -> Snapshot:
            clock.now += 0.02
            return self.current

    pump = Pump(clock)
    pump.add(Slow(snapshot_of("0")), Sink(), snapshot_of("0"))

    assert pump.step() == pytest.approx(0.2 - 0.02)


def test_a_quick_look_is_followed_by_the_next_after_a_thirtieth_of_a_second() -> None:
    pump = Pump(Clock())
    pump.add(Source(snapshot_of("0")), Sink(), snapshot_of("0"))
    assert pump.step() == INTERVAL_SECONDS


def test_a_board_that_fails_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Sink):
        def show(self, message) -> None:
            raise OSError("the comm is closed")

    source, sink, pump = Source(snapshot_of("0")), Sink(), Pump(Clock())
    broken = pump.add(source, Broken(), source.current)
    pump.add(source, sink, source.current)
    source.current = snapshot_of("1")
    pump.step()

    assert broken.over.is_set()
    assert [type(message) for message in sink.messages] == [Delta]
    assert "a %%tfrt board stopped updating" in caplog.text


def test_the_thread_ends_with_the_last_board_and_starts_again_with_the_next() -> None:
    pump, over = Pump(), replace(snapshot_of("1"), status=Status.DONE)
    for _ in range(2):
        sink = Sink()
        assert pump.watch(Source(over), sink, snapshot_of("0")).over.wait(10)
        assert (sink.messages, sink.ends) == ([Keyframe(over)], [over])


def test_draining_waits_for_the_last_message() -> None:
    pump, sink = Pump(), Sink()
    over = snapshot_of("1", status=Status.DONE)
    pump.watch(Source(over), sink, snapshot_of("0"))
    pump.drain(10)
    assert sink.ends == [over]
