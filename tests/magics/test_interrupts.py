"""An interrupt that waits for a good moment."""

from __future__ import annotations

import signal
import threading

import pytest

from tfrt_magics.bridge.interrupts import interrupts_deferred


def test_what_was_begun_is_finished_before_the_interrupt() -> None:
    done = []

    def begin_and_finish() -> None:
        with interrupts_deferred():
            signal.raise_signal(signal.SIGINT)
            done.append("finished")

    with pytest.raises(KeyboardInterrupt):
        begin_and_finish()
    assert done == ["finished"]


def test_afterwards_an_interrupt_is_what_it_was_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts_deferred():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_within_is_not_hidden_by_an_interrupt() -> None:
    with pytest.raises(ValueError, match="first"), interrupts_deferred():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("first")


def test_other_threads_are_left_alone() -> None:
    done = []

    def work() -> None:
        with interrupts_deferred():
            done.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.getsignal(signal.SIGINT)]
