"""Test the thread that polls runs; each test controls it by hand."""

from __future__ import annotations

import gc
import threading
import time
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
    """A run that is over after some polls, each of which takes `cost` seconds."""

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
    pump, run = Pump(Clock()), Run()
    pump.mark(run)
    assert pump.step() == INTERVAL_SECONDS
    pump.step()
    pump.step()
    assert run.seen == run.looks


def test_looking_at_a_large_program_takes_at_most_a_tenth_of_the_time() -> None:
    clock = Clock()
    pump = Pump(clock)
    pump.mark(Run(looks=3, clock=clock, cost=0.02))
    assert pump.step() == pytest.approx(0.06 - 0.02)
    assert pump.step() == pytest.approx(0.26 - 0.02)


def test_a_run_that_cannot_be_published_does_not_stop_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Run):
        def step(self) -> bool:
            raise OSError("the socket is closed")

    pump, broken, run = Pump(Clock()), Broken(), Run()
    pump.mark(broken)
    pump.mark(run)
    pump.step()
    assert broken.over.is_set()
    assert run.seen == 1
    assert "a %%tfrt board stopped updating" in caplog.text


def test_a_display_is_looked_at_once_however_often_it_was_marked() -> None:
    pump, shown = Pump(Clock()), Run(looks=1)
    for _ in range(1000):
        pump.mark(shown)
    pump.flush()
    pump.flush()
    assert shown.seen == 1
    pump.mark(shown)
    pump.flush()
    assert shown.seen == 2


def test_the_thread_sleeps_between_runs_and_wakes_for_the_next() -> None:
    pump = Pump()
    for _ in range(2):
        run = Run()
        pump.watch(run)
        assert run.over.wait(10)
        pump.drain(10)
        assert run.seen == 2
        before = time.process_time()
        time.sleep(0.3)
        assert time.process_time() - before < 0.05


def test_a_destructor_may_mark_while_the_pump_looks() -> None:
    pump, run = Pump(), Run(looks=1)

    class Ending:
        def __del__(self) -> None:
            pump.mark(run)

    class Collecting(Run):
        def step(self) -> bool:
            circle = [Ending()]
            circle.append(circle)  # type: ignore[arg-type]
            del circle
            gc.collect()
            return super().step()

    pump.watch(Collecting(looks=1))
    assert run.over.wait(10)


def test_what_the_thread_is_about_to_send_is_waited_for() -> None:
    """A cell must not end before its last change is sent: files keep nothing that comes later."""

    class Slow(Run):
        def step(self) -> bool:
            begun.set()
            time.sleep(0.2)
            return super().step()

    pump, run, begun = Pump(), Slow(looks=1), threading.Event()
    pump.watch(run)
    assert begun.wait(10)
    pump.flush()
    assert run.seen == 1
