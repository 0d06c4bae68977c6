"""Test kernels on numpy: products, elementwise operations, and reductions."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.kernels.tensor.cpu_convolution import accumulate_product, use_one_blas_thread

LIBRARIES = list((Path(np.__file__).parent.parent / "numpy.libs").glob("lib*openblas64*"))


def test_a_product_over_nothing_is_zero(kernels, tensor) -> None:
    c = tensor([[7.0]])
    operands = tensor(np.zeros((1, 0))), tensor(np.zeros((0, 1)))
    kernels("tfrt_test.matmul.f32.2", 1.0, *operands, 0.0, c, CHAIN)
    assert c.array.tolist() == [[0.0]]


def test_with_beta_zero_the_old_content_does_not_matter() -> None:
    one, result = np.ones((1, 1), np.float32), np.full((1, 1), np.nan, np.float32)
    accumulate_product(2, one, one, 0, result)
    assert result.tolist() == [[2]]


def test_infinities_are_numbers_like_others(kernels, tensor) -> None:
    row, made = tensor([[np.inf, -np.inf]]), tensor([[0.0]])
    kernels("tfrt_test.matmul.f32.2", 1.0, row, tensor([[1.0], [1.0]]), 0.0, made, CHAIN)
    results = [made, kernels("tfrt_test.add.f32", row, tensor([[-np.inf, np.inf]]))]
    results.append(kernels("tfrt_test.reduce_mean.f32.2", row))
    kernels("tfrt_test.softmax_inplace.f32", row, CHAIN)
    assert all(np.isnan(result.array).all() for result in (*results, row))


@pytest.mark.skipif(not LIBRARIES, reason="numpy came without its own OpenBLAS")
def test_numpys_own_blas_uses_one_thread() -> None:
    assert use_one_blas_thread() is not None
    functions = ctypes.CDLL(str(LIBRARIES[0]))
    assert functions.scipy_openblas_get_num_threads64_() == 1


@pytest.mark.parametrize(
    ("name", "operands", "message"),
    [
        ("add.f32", [(2,), (3,)], r"argument shapes differ: \[2\] vs. \[3\]"),
        ("add_inplace.f32", [(2,), (3,)], r"argument shapes differ: \[2\] vs. \[3\]"),
        ("relu.f32", [(2,), (3,)], r"argument and result shapes differ: \[2\] vs. \[3\]"),
        ("relu.f32", [], "expected 1 or 2 tensors, not 0"),
        ("add.f32", [(1,)] * 4, "expected 2 or 3 tensors, not 4"),
        ("relu_inplace.f32", [(2,), (2,)], "expected 1 tensors, not 2"),
        ("relu.i32", [(2,)], "expected a tensor of i32, not of f32"),
    ],
)
def test_operands_that_do_not_match_are_refused(kernels, tensor, name, operands, message) -> None:
    with pytest.raises(KernelError, match=message):
        kernels(f"tfrt_test.{name}", *(tensor(np.zeros(sizes)) for sizes in operands), CHAIN)


@pytest.mark.parametrize(
    ("sizes", "target", "message"),
    [
        ((2,), (2, 3), r"cannot broadcast a tensor of shape \[2\] to \[2, 3\]"),
        ((1, 2, 3), (2, 3), r"cannot broadcast a tensor of shape \[1, 2, 3\] to \[2, 3\]"),
        ((3,), (3,), r"expected a shape of rank 2, not \[3\]"),
        ((1,), (2**40, 2**20), "Cannot allocate tensor"),
    ],
)
def test_a_tensor_that_does_not_fill_the_shape_is_refused(
    kernels, tensor, sizes, target, message
) -> None:
    with pytest.raises(KernelError, match=message):
        kernels("tfrt_test.broadcast.f32.2", tensor(np.zeros(sizes)), TensorShape(target), CHAIN)


@pytest.mark.parametrize("begin", [[2, 0, 0], [-1, 0, 0], [0, 0], [2**62, 0, 0]])
def test_a_slice_outside_the_tensor_is_refused(kernels, tensor, begin) -> None:
    source, target = tensor(np.zeros((2, 3, 4))), tensor(np.zeros((1, 2, 2)))
    with pytest.raises(KernelError, match=r"a slice of shape \[1, 2, 2\] at .* is not within"):
        kernels("tfrt_test.slice_inplace.f32.3", source, tensor(begin, "int64"), target, CHAIN)


@pytest.mark.parametrize("count", [0, 2])
def test_a_slice_is_written_to_one_tensor(kernels, tensor, count) -> None:
    source, targets = tensor(np.zeros((2, 3, 4))), [tensor(np.zeros((1, 2, 2)))] * count
    with pytest.raises(KernelError, match=f"expected one tensor to write to, found {count}"):
        kernels(
            "tfrt_test.slice_inplace.f32.3", source, tensor([0, 0, 0], "int64"), CHAIN, *targets
        )


@pytest.mark.parametrize(
    ("values", "expected"),
    [(5.0, 1.0), ([], []), ([[1000.0, 1000.0], [-1000.0, 1000.0]], [[0.5, 0.5], [0.0, 1.0]])],
)
def test_softmax_takes_every_rank_and_any_size_of_number(kernels, tensor, values, expected) -> None:
    target = tensor(values)
    kernels("tfrt_test.softmax_inplace.f32", target, CHAIN)
    assert target.array.tolist() == expected
