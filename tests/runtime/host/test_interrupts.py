"""Test that an interrupt during the runtime's own code is raised after that code."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import ModuleType

import pytest

from tfrt_runtime.host.context import HostContext

SLOW = 30


@pytest.fixture(autouse=True)
def handler() -> None:
    """Let a host replace Python's handler."""
    HostContext("s").close()


def of_runtime(text: str) -> Callable[..., None]:
    """Return the function `act` of a source, as if it were in a module of the runtime."""
    module = ModuleType("tfrt_runtime.example")
    exec(text, vars(module))  # noqa: S102
    act: Callable[..., None] = module.act
    return act


def endless() -> None:
    while True:
        pass


def test_code_of_the_runtime_comes_to_its_end_and_then_the_interrupt_is_raised() -> None:
    act = of_runtime("""
import signal
def act(done):
    for i in range(100):
        if i == 50:
            signal.raise_signal(signal.SIGINT)
        done.append(i)
""")
    done: list[int] = []

    with pytest.raises(KeyboardInterrupt):
        act(done)
        endless()

    assert done == list(range(100))


def test_a_finalizer_comes_to_its_end_and_then_the_interrupt_is_raised() -> None:
    done = []

    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)
            for _ in range(100):
                done.append(len(done))

    with pytest.raises(KeyboardInterrupt):
        made = Finalized()
        del made
        endless()

    assert done == list(range(100))


def test_code_of_users_that_the_runtime_calls_is_interrupted_at_once() -> None:
    act = of_runtime("""
def act(function):
    function()
""")
    done = []

    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)
        done.append(1)

    with pytest.raises(KeyboardInterrupt):
        act(interrupted)

    assert done == []


def test_code_of_the_runtime_that_sleeps_is_interrupted_after_a_moment() -> None:
    act = of_runtime("""
import threading
def act(seconds):
    threading.Event().wait(seconds)
""")
    main = threading.get_ident()
    timer = threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    began = time.monotonic()

    with pytest.raises(KeyboardInterrupt):
        act(SLOW)

    assert time.monotonic() - began < SLOW / 2
    timer.join()
