"""Test the small kernels of the reference's tests and of the seed's examples."""

from __future__ import annotations

import threading

import pytest

from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.kernels.basic import test_kernels
from tfrt_runtime.kernels.registry import KernelError


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


def test_a_location_has_one_name(kernels) -> None:
    for location, name in ((4, "one"), (8, "two"), (4, "one")):
        kernels.frame.location_id = location
        kernels("tfrt_test.unique_loc", CHAIN, attributes=(name,))
    with pytest.raises(KernelError, match="^duplicate locations 4$"):
        kernels("tfrt_test.unique_loc", CHAIN, attributes=("two",))


def test_kinds_of_tensors_are_printed(kernels, tensor) -> None:
    kind = kernels("tfrt_test.get_static_tensor_type", attributes=("StringHost",))
    kernels("tfrt_test.print_tensor_type", kind, CHAIN)
    kernels("tfrt_test.print_tensor_type", tensor([1.0]), CHAIN)
    assert kernels.printed == "StringHost\nDenseHost\n"
    for wrong in (int, 5):
        with pytest.raises(KernelError, match="expected a tensor"):
            kernels("tfrt_test.print_tensor_type", wrong, CHAIN)
    with pytest.raises(KernelError, match="cannot find tensor type GpuDense"):
        kernels("tfrt.get_static_tensor_type", attributes=("GpuDense",))
