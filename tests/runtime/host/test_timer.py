"""Test timers and deadlines."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.queues.threads import TimerQueue
from tfrt_runtime.host.request import DEADLINE_EXCEEDED, Request

SOON = 0.01
LATE = 3600.0
SLOW = 60


@pytest.fixture
def timers() -> Iterator[TimerQueue]:
    queue = TimerQueue()
    yield queue
    queue.close()


def test_timers_are_called_in_the_order_of_their_times(timers: TimerQueue) -> None:
    called: list[str] = []
    done, all_are_there = threading.Event(), threading.Event()
    now = time.monotonic()
    timers.at(now, lambda: all_are_there.wait(SLOW))
    timers.at(now + 3 * SOON, done.set)
    timers.at(now + 2 * SOON, lambda: called.append("third"))
    timers.at(now + SOON, lambda: called.append("first"))
    timers.at(now + SOON, lambda: called.append("second"))
    all_are_there.set()

    assert done.wait(SLOW)
    assert called == ["first", "second", "third"]
    assert time.monotonic() >= now + 3 * SOON


def test_an_earlier_timer_overtakes_one_that_waits(timers: TimerQueue) -> None:
    done = threading.Event()
    timers.after(LATE, done.clear)
    timers.after(SOON, done.set)

    assert done.wait(SLOW)
    assert len(timers) == 1


def test_a_timer_whose_time_is_past_is_called_soon(timers: TimerQueue) -> None:
    done = threading.Event()
    timers.at(time.monotonic() - LATE, done.set)

    assert done.wait(SLOW)


def test_a_cancelled_timer_is_not_called(timers: TimerQueue) -> None:
    called: list[str] = []
    done = threading.Event()
    cancelled = timers.after(SOON, lambda: called.append("cancelled"))
    last = timers.after(2 * SOON, done.set)
    cancelled.cancel()
    before = list(called)  # on a busy machine, it may be due already

    assert done.wait(SLOW)
    assert called == before
    assert (cancelled.is_cancelled, last.is_cancelled) == (True, True)


def test_what_a_callback_raises_is_shown_and_ends_nothing(
    timers: TimerQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, *_: shown.append(kind.__name__))
    done = threading.Event()
    timers.after(0, lambda: 1 // 0)
    timers.after(SOON, done.set)

    assert done.wait(SLOW)
    assert shown == ["ZeroDivisionError"]


def test_closing_forgets_timers_and_ends_the_thread(timers: TimerQueue) -> None:
    timers.after(LATE, lambda: None)
    timers.close()
    timers.close()

    assert len(timers) == 0
    assert "timers" not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(RuntimeError, match="closed"):
        timers.after(SOON, lambda: None)


def test_a_callback_may_close_its_queue(timers: TimerQueue) -> None:
    timers.after(0, timers.close)
    thread = timers._thread
    assert thread is not None
    thread.join(SLOW)

    assert not thread.is_alive()


def test_a_request_is_cancelled_on_its_deadline(
    host: HostContext, new_request: Callable[..., Request]
) -> None:
    request = new_request(host)
    over = threading.Event()
    timer = host.timers.at(time.monotonic() + LATE, over.set)
    request.cancel_at(time.monotonic() + SOON)
    cancelled = threading.Event()
    host.timers.after(2 * SOON, cancelled.set)

    assert cancelled.wait(SLOW)
    assert str(request.cancellation) == f"error: {DEADLINE_EXCEEDED}"
    timer.cancel()
    request.leave()
    assert request.is_done


def test_a_request_that_is_over_in_time_lets_go_of_its_deadline(
    host: HostContext, new_request: Callable[..., Request]
) -> None:
    request = new_request(host)
    timer = request.cancel_at(time.monotonic() + LATE)
    before = timer.is_cancelled
    request.leave()

    assert (before, timer.is_cancelled, request.is_cancelled) == (False, True, False)
