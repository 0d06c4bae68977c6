"""The thread that polls runs, moved by hand."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from tfrt_magics.bridge.pump import INTERVAL_SECONDS, Pump


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Run:
    """A run that is over after some looks, each of which takes `cost` seconds."""

    looks: int = 2
    clock: Clock = field(default_factory=Clock)
    cost: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)
    seen: int = 0

    def step(self) -> bool:
        self.seen += 1
        self.clock.now += self.cost
        if self.seen == self.looks:
            self.over.set()
        return not self.over.is_set()


def test_a_quick_look_is_followed_by_the_next_after_a_thirtieth_of_a_second() -> None:
    pump = Pump(Clock())
    pump.add(Run())
    assert pump.step() == INTERVAL_SECONDS
    assert pump.step() is None


def test_looking_at_a_large_program_takes_at_most_a_tenth_of_the_time() -> None:
    clock = Clock()
    pump = Pump(clock)
    pump.add(Run(clock=clock, cost=0.02))
    assert pump.step() == pytest.approx(0.26 - 0.02)


def test_a_run_that_cannot_be_published_does_not_stop_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Run):
        def step(self) -> bool:
            raise OSError("the socket is closed")

    pump, broken, run = Pump(Clock()), Broken(), Run()
    pump.add(broken)
    pump.add(run)
    pump.step()
    assert broken.over.is_set()
    assert run.seen == 1
    assert "a %%tfrt board stopped updating" in caplog.text


def test_the_thread_ends_with_the_last_run_and_starts_again_with_the_next() -> None:
    pump = Pump()
    for _ in range(2):
        run = Run()
        pump.watch(run)
        assert run.over.wait(10)
        pump.drain(10)
        assert run.seen == 2
