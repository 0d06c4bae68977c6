"""Test the host's tensors: memory, elements, and text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tfrt_runtime.bef.records import DType
from tfrt_runtime.host.allocator import LeakCheckAllocator, MallocAllocator, create_allocator
from tfrt_runtime.host.tensor.dense import DenseHostTensor, HostBuffer
from tfrt_runtime.host.tensor.shapes import (
    ELEMENT_TYPES,
    F32,
    I32,
    PartialTensorShape,
    TensorShape,
    element_text,
    element_type_of,
)
from tfrt_runtime.host.tensor.sparse import CooHostTensor


def leak_check() -> LeakCheckAllocator:
    return LeakCheckAllocator(MallocAllocator())


def created(allocator: LeakCheckAllocator, *sizes: int) -> DenseHostTensor:
    tensor = DenseHostTensor.create(allocator, F32, TensorShape(sizes))
    assert tensor is not None
    return tensor


# --- memory ---


def test_memory_lives_as_long_as_any_view_of_it() -> None:
    allocator = leak_check()
    tensor = created(allocator, 4, 2)
    tensor.array[...] = 7
    view = tensor.array[1:3].T
    del tensor
    while_viewed = allocator.ledger.current_allocations
    values = view.tolist()
    del view
    assert (while_viewed, allocator.ledger.current_allocations) == (1, 0)
    assert values == [[7, 7], [7, 7]]


def test_memory_lives_as_long_as_a_slice_of_its_buffer() -> None:
    allocator = leak_check()
    part = created(allocator, 8).buffer.slice(4, 8).slice(4, 4)
    while_sliced = allocator.ledger.current_allocations
    assert (part.size, while_sliced) == (4, 1)
    del part
    assert allocator.ledger.current_allocations == 0


def test_numpy_sees_a_tensor_without_a_copy() -> None:
    tensor = created(leak_check(), 2)
    seen = np.asarray(tensor)
    copied = np.array(tensor)
    seen[...] = 3
    copied[...] = 4
    assert tensor.array.tolist() == [3, 3]
    assert np.asarray(tensor, np.int64).tolist() == [3, 3]


def test_a_tensor_over_an_array_shares_its_memory() -> None:
    array = np.zeros((2, 2), np.int32)
    tensor = DenseHostTensor.over(array)
    tensor.array[0, 1] = 5
    assert (tensor.element_type, array.tolist()) == (I32, [[0, 5], [0, 0]])


@pytest.mark.parametrize("dtype", ["U3", "O", "M8[s]", "longdouble"])
def test_some_arrays_are_no_tensors(dtype: str) -> None:
    with pytest.raises(ValueError, match="a tensor cannot hold elements of type"):
        DenseHostTensor.over(np.zeros(2, dtype))


def test_a_buffer_has_exactly_the_bytes_of_its_tensor() -> None:
    buffer = HostBuffer.over(np.zeros(5, np.uint8))
    with pytest.raises(ValueError, match=r"buffer_size \(5\) is not equal to the number"):
        DenseHostTensor(F32, TensorShape((1,)), buffer)


def test_the_day_to_day_allocator_recycles_tensors() -> None:
    allocator = create_allocator("malloc")
    addresses = []
    for _ in range(3):
        tensor = DenseHostTensor.create(allocator, F32, TensorShape((10, 10)))
        assert tensor is not None
        addresses.append(tensor.buffer.address)
        del tensor
    assert len(set(addresses)) == 1


def test_an_array_that_is_still_used_is_not_recycled() -> None:
    allocator = create_allocator("malloc")
    first = DenseHostTensor.create(allocator, F32, TensorShape((10,)))
    assert first is not None
    kept, address = first.array, first.buffer.address
    del first
    second = DenseHostTensor.create(allocator, F32, TensorShape((10,)))
    assert second is not None
    assert second.buffer.address != address
    assert kept.ctypes.data == address


# --- elements and shapes ---


def test_every_arithmetic_type_is_found_by_its_array() -> None:
    arithmetic = [element for element in ELEMENT_TYPES.values() if element.is_arithmetic]
    assert [element_type_of(np.zeros(1, e.storage)) for e in arithmetic] == arithmetic


def test_types_are_printed_in_the_references_words() -> None:
    assert " ".join(map(str, ELEMENT_TYPES.values())) == (
        "u8 u16 u32 u64 i1 i8 i16 i32 i64 f16 bf16 f32 f64 complex64 complex128"
    )


@given(st.lists(st.integers(-2, 2**63), max_size=5))
def test_a_shape_has_the_product_of_its_sizes_as_elements_or_is_refused(sizes: list[int]) -> None:
    try:
        shape = TensorShape(tuple(sizes))
    except ValueError as error:
        assert min(sizes) < 0 and "negative size" in str(error)
    else:
        assert shape.element_count == math.prod(sizes)


@given(st.lists(st.integers(-1, 9), max_size=5))
def test_a_partial_shape_is_a_shape_unless_a_size_is_unknown(sizes: list[int]) -> None:
    partial = PartialTensorShape(tuple(sizes))
    if -1 in sizes:
        with pytest.raises(ValueError, match="^Unknown dimensions at following indices"):
            partial.to_shape()
    else:
        assert partial.to_shape().sizes == partial.sizes


# --- text ---


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "1"),
        (False, "0"),
        (-12, "-12"),
        (2**64 - 1, "18446744073709551615"),
        (0.0, "0.000000e+00"),
        (-0.0, "-0.000000e+00"),
        (0.333, "3.330000e-01"),
        (1e10, "1.000000e+10"),
        (5e-324, "4.940656e-324"),
        (float("inf"), "INF"),
        (float("-inf"), "-INF"),
        (float("nan"), "nan"),
        (-float("nan"), "nan"),
        (1 - 1j, "(1.000000e+00,-1.000000e+00)"),
        (complex(float("-inf"), float("nan")), "(-INF,nan)"),
    ],
)
def test_elements_are_printed_as_the_reference_prints_them(value: complex, text: str) -> None:
    assert element_text(value) == text


def test_a_bfloat16_is_printed_as_a_number() -> None:
    bits = np.array([0x3F80, 0xC000, 0x7F80], np.uint16)
    tensor = DenseHostTensor(ELEMENT_TYPES[DType.BF16], TensorShape((3,)), HostBuffer.over(bits))
    assert str(tensor) == (
        "DenseHostTensor dtype = bf16, shape = [3], values = [1.000000e+00, -2.000000e+00, INF]"
    )


# --- sparse ---


@given(
    arrays.arrays(
        np.int32,
        arrays.array_shapes(min_dims=0, max_dims=4, max_side=4),
        elements=st.integers(0, 2),
    )
)
def test_a_tensor_is_the_same_after_a_turn_as_coordinates(array: np.ndarray) -> None:
    allocator = leak_check()
    sparse = CooHostTensor.from_dense(allocator, DenseHostTensor.over(array))
    assert sparse is not None
    dense = sparse.to_dense(allocator)
    assert dense is not None
    assert sparse.indices.array.tolist() == np.argwhere(array).tolist()
    assert np.array_equal(dense.array, array)


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([[0, 2]], r"an index is outside shape \[2, 2\]"),
        ([[-1, 0]], r"an index is outside shape \[2, 2\]"),
        ([[0, 0], [1, 1]], r"indices of shape \[2, 2\] do not place 1 values"),
        ([[0]], r"indices of shape \[1, 1\] do not place 1 values in shape \[2, 2\]"),
    ],
)
def test_coordinates_lie_in_the_shape(indices: list[list[int]], message: str) -> None:
    rows = DenseHostTensor.over(np.array(indices, np.int64))
    values = DenseHostTensor.over(np.array([5]))
    with pytest.raises(ValueError, match=message):
        CooHostTensor(TensorShape((2, 2)), rows, values)
