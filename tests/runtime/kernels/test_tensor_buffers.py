"""Buffers under tensors: allocated, cut, shared."""

from __future__ import annotations

import pytest

from tfrt_runtime.host.objects import CHAIN
from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.kernels.registry import KernelError


def test_a_buffer_serves_two_tensors_and_lives_as_long_as_the_last(kernels) -> None:
    buffer = kernels("tfrt_dht.allocate_buffer", 8, 8)
    first, _ = kernels("tfrt_dht.make_tensor.i64", buffer, TensorShape((1,)), CHAIN)
    second, _ = kernels("tfrt_dht.make_tensor.f64", buffer, TensorShape(()), CHAIN)
    ledger = kernels.host.allocator.ledger
    alive = [ledger.current_allocations]
    del buffer, first
    alive.append(ledger.current_allocations)
    del second
    alive.append(ledger.current_allocations)
    assert alive == [1, 1, 0]


@pytest.mark.parametrize("alignment", [1, 64, 4096, 2 << 20])
def test_a_buffer_is_aligned_and_prints_its_address(kernels, alignment) -> None:
    buffer = kernels("tfrt_dht.allocate_buffer", 48, alignment)
    kernels("tfrt_dht.print_buffer", buffer, CHAIN)
    assert buffer.address % alignment == 0
    assert kernels.printed == f"HostBuffer<pointer={buffer.address:#x}, size=48>\n"


def test_only_a_buffer_is_a_buffer(kernels, tensor) -> None:
    with pytest.raises(KernelError, match="expected a HostBuffer, found DenseHostTensor"):
        kernels("tfrt_dht.make_tensor.f32", tensor([1.0]), TensorShape((1,)), CHAIN)
