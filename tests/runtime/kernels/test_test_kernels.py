"""The small kernels of the reference's tests and of the seed's examples."""

from __future__ import annotations

import threading

from tfrt_runtime.kernels.basic import test_kernels
from tfrt_runtime.kernels.registry import CHAIN


def test_mars_answers_after_a_while(kernels, monkeypatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(test_kernels.time, "sleep", waits.append)
    assert kernels("tfrt.async.read.from.mars") == 42
    assert waits == [0.1]
    assert kernels.registry["tfrt.async.read.from.mars"].blocking


def test_threads_are_numbered_as_they_ask(kernels) -> None:
    def ask() -> None:
        numbers.append(kernels("tfrt_test.get_thread_id", CHAIN))

    numbers: list[int] = []
    ask()
    other = threading.Thread(target=ask)
    other.start()
    other.join()
    ask()
    assert numbers == [0, 1, 0]
