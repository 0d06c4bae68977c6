"""Interrupts that are noticed at a good moment."""

from __future__ import annotations

import signal
import threading

import pytest

from tfrt_magics.cell import interrupts_noticed


def test_what_was_begun_is_finished_and_each_interrupt_is_noticed() -> None:
    with interrupts_noticed() as interrupts:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    assert len(interrupts) == 2


def test_afterwards_an_interrupt_is_what_it_was_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="first"), interrupts_noticed():
        raise ValueError("first")
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_are_left_alone() -> None:
    done = []

    def work() -> None:
        with interrupts_noticed():
            done.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.getsignal(signal.SIGINT)]
