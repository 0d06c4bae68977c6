"""Test tensors: creating, filling, comparing, and printing them, sparse tensors, and memory."""

from __future__ import annotations

import numpy as np
import pytest

from tfrt_runtime.bef.attributes import Dense
from tfrt_runtime.bef.records import DType
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.kernels.registry import KernelError

CREATE = "tfrt_dht.create_uninitialized_tensor"
FILL = "tfrt_dht.fill_tensor_with_constant"


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("i32", (1, 2, 3), "Incorrect number of values for the tensor: 3, but expected 2"),
        ("i32", (), "Incorrect number of values for the tensor: 0, but expected 2"),
        ("ui8", (1, 300), "a value does not fit in u8"),
        ("i64", (1, 1 << 63), "a value does not fit in i64"),
        ("f32", (1.0, "two"), "a value does not fit in f32"),
        ("f32", (1.0, CHAIN), "a value does not fit in f32"),
    ],
)
def test_values_that_do_not_fit_are_refused_and_nothing_is_written(
    kernels, name, values, message
) -> None:
    target = kernels(f"{CREATE}.{name}.1", attributes=((2,),))
    target.array[...] = 7
    with pytest.raises(KernelError, match=message):
        kernels(f"tfrt_dht.set_tensor_with_values.{name}", target, CHAIN, *values)
    assert target.array.tolist() == [7, 7]


@pytest.mark.parametrize(
    ("left", "right", "equal", "close", "close_3", "close_1000", "close_100000"),
    [
        (1.0, 1.0, 1, 1, 1, 1, 1),
        (1.0, 1 + 2 * 2**-23, 0, 1, 1, 1, 1),
        (1.0, 1 + 3 * 2**-23, 0, 0, 1, 1, 1),
        (1.0, 1 + 9 * 2**-23, 0, 0, 0, 1, 1),
        (1.0, 1 + 1500 * 2**-23, 0, 0, 0, 0, 1),
        (-1.0, 1.0, 0, 0, 0, 0, 0),
        (0.0, -0.0, 1, 1, 1, 1, 1),
        (0.0, 2**-149, 0, 1, 1, 1, 1),
        (np.inf, np.inf, 1, 1, 1, 1, 1),
        (np.inf, -np.inf, 0, 0, 0, 0, 0),
        (np.inf, 3.4e38, 0, 0, 0, 0, 0),
        (np.nan, np.nan, 0, 0, 0, 0, 0),
    ],
)
def test_close_means_few_units_in_the_last_place(
    kernels, tensor, left, right, equal, close, close_3, close_1000, close_100000
) -> None:
    names = ["equal", "allclose", "allclose.3ulp", "allclose.1000ulp", "allclose.100000ulp"]
    found = [
        kernels(f"tfrt_dht.tensor_{name}.f32", tensor([left]), tensor([right]), CHAIN)[0]
        for name in names
    ]
    assert found == [equal, close, close_3, close_1000, close_100000]


@pytest.mark.parametrize(
    ("operand", "message"),
    [
        (5, "expected a DenseHostTensor, found int"),
        ("text", "expected a DenseHostTensor, found str"),
        (DenseHostTensor.over(np.zeros(1)), "expected a tensor of f32, not of f64"),
    ],
)
def test_a_kernel_refuses_what_is_not_its_tensor(kernels, tensor, operand, message) -> None:
    with pytest.raises(KernelError, match=message):
        kernels(f"{FILL}.f32", operand, CHAIN, attributes=(1.0,))
    with pytest.raises(KernelError, match=message):
        kernels("tfrt_dht.tensor_equal.f32", tensor([1.0]), operand, CHAIN)


def test_only_tensors_are_printed_as_tensors(kernels) -> None:
    with pytest.raises(KernelError, match="expected a tensor, found Chain"):
        kernels("tfrt_dht.print_tensor", CHAIN, CHAIN)


def test_a_dense_tensor_does_not_write_into_its_attribute(kernels) -> None:
    data = bytearray(4)
    made = kernels(
        "tfrt_test.const_dense_attr", attributes=(Dense(DType.I32, (), memoryview(data)),)
    )
    made.array[...] = 5
    assert data == bytes(4)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (Dense(DType.I32, (2**40,), b"1234"), "4 bytes of elements where the shape asks for"),
        (Dense(DType.I32, (-1,), b""), "negative size"),
        (Dense(DType.STRING, (1,), b"a"), "a tensor cannot hold elements of type STRING"),
    ],
)
def test_a_dense_attribute_is_checked_before_memory_is_asked_for(
    kernels, attribute, message
) -> None:
    with pytest.raises(KernelError, match=message):
        kernels("tfrt_test.const_dense_attr", attributes=(attribute,))
    assert kernels.host.allocator.ledger.total_allocations == 0


# --- sparse ones ---


def test_coordinates_of_an_oblong_tensor_are_row_and_column(kernels, tensor) -> None:
    """The reference divides by the wrong size, and gets [0, 1, 1, 1, 2, 0, 3, 1]; ours is right."""
    dense = tensor([[0, 1, 0, 2], [3, 0, 0, 4]], "int32")
    sparse, _ = kernels("coo.convert_dht_to_coo.i32.2", dense, CHAIN)
    kernels("tfrt_dht.print_tensor", sparse, CHAIN)
    assert kernels.printed == (
        "CooHostTensor dtype = i32, shape = [2, 4], "
        "indices = [0, 1, 0, 3, 1, 0, 1, 3], values = [1, 2, 3, 4]\n\n"
    )


def test_a_tensor_of_zeros_has_no_coordinates(kernels, tensor) -> None:
    sparse, _ = kernels("coo.convert_dht_to_coo.f32.1", tensor([0.0, -0.0]), CHAIN)
    assert str(sparse) == "CooHostTensor dtype = f32, shape = [2], indices = [], values = []\n"


def test_a_sparse_tensor_of_another_type_or_rank_is_refused(kernels, tensor) -> None:
    sparse, _ = kernels("coo.convert_dht_to_coo.i32.1", tensor([1], "int32"), CHAIN)
    for name in ("i64.1", "i32.2"):
        with pytest.raises(KernelError, match=r"not of i32 and shape \[1\]"):
            kernels(f"coo.convert_coo_to_dht.{name}", sparse, CHAIN)
    with pytest.raises(KernelError, match=r"expected a tensor of rank 2, not of shape \[1\]"):
        kernels("coo.convert_dht_to_coo.i32.2", tensor([1], "int32"), CHAIN)


def test_a_conversion_without_memory_is_an_error(kernels, tensor) -> None:
    kernels.host.allocator = _Empty()
    with pytest.raises(KernelError, match="^Cannot allocate tensor$"):
        kernels("coo.convert_dht_to_coo.i32.1", tensor([1], "int32"), CHAIN)


class _Empty:
    def allocate_bytes(self, size: int, alignment: int) -> None:
        return None


# --- their memory ---


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
