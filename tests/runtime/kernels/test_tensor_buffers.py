"""Buffers under tensors: allocated, cut, shared."""

from __future__ import annotations

import pytest

from tfrt_runtime.host.tensor.element_types import ELEMENT_TYPES
from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.kernels.registry import CHAIN, KernelError


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


def test_a_tensor_is_reshaped_through_its_buffer(kernels, tensor) -> None:
    buffer, _ = kernels("tfrt_dht.get_buffer", tensor([[1, 2, 3], [4, 5, 6]]), CHAIN)
    made, _ = kernels("tfrt_dht.make_tensor.f32", buffer, TensorShape((3, 1, 2)), CHAIN)
    assert made.array.tolist() == [[[1, 2]], [[3, 4]], [[5, 6]]]


@pytest.mark.parametrize("element", ELEMENT_TYPES.values(), ids=str)
def test_a_buffer_becomes_a_tensor_of_any_type(kernels, element) -> None:
    buffer = kernels("tfrt_dht.allocate_buffer", 3 * element.size, 16)
    made, chain = kernels(f"tfrt_dht.make_tensor.{element.word}", buffer, TensorShape((3,)), CHAIN)
    assert (made.element_type, made.shape, chain) == (element, TensorShape((3,)), CHAIN)


@pytest.mark.parametrize(
    ("size", "alignment", "message"),
    [
        (-1, 8, "a buffer cannot have -1 bytes"),
        (8, 0, "alignment 0 is not a power of two"),
        (8, 24, "alignment 24 is not a power of two"),
        (8, -8, "alignment -8 is not a power of two"),
        (8, 1 << 40, "is not a power of two up to 2097152"),
        (1 << 62, 8, "Cannot allocate a buffer of 4611686018427387904 bytes"),
    ],
)
def test_an_impossible_buffer_is_refused(kernels, size, alignment, message) -> None:
    with pytest.raises(KernelError, match=message):
        kernels("tfrt_dht.allocate_buffer", size, alignment)


@pytest.mark.parametrize(
    ("offset", "size"), [(0, 33), (-1, 8), (8, -1), (32, 1), (1 << 62, 1 << 62)]
)
def test_a_slice_stays_within_its_buffer(kernels, offset, size) -> None:
    buffer = kernels("tfrt_dht.allocate_buffer", 32, 8)
    with pytest.raises(KernelError, match="not within a buffer of 32 bytes"):
        kernels("tfrt_dht.get_buffer_slice", buffer, offset, size)


@pytest.mark.parametrize("alignment", [1, 64, 4096, 2 << 20])
def test_a_buffer_is_aligned_and_prints_its_address(kernels, alignment) -> None:
    buffer = kernels("tfrt_dht.allocate_buffer", 48, alignment)
    kernels("tfrt_dht.print_buffer", buffer, CHAIN)
    assert buffer.address % alignment == 0
    assert kernels.printed == f"HostBuffer<pointer={buffer.address:#x}, size=48>\n"


def test_only_a_buffer_is_a_buffer(kernels, tensor) -> None:
    with pytest.raises(KernelError, match="expected a HostBuffer, found DenseHostTensor"):
        kernels("tfrt_dht.make_tensor.f32", tensor([1.0]), TensorShape((1,)), CHAIN)
