"""Kernels on numpy: products, elementwise, reductions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.kernels.registry import CHAIN, KernelError
from tfrt_runtime.kernels.tensor.cpu_elementwise import relu
from tfrt_runtime.kernels.tensor.cpu_matmul import accumulate_product
from tfrt_runtime.kernels.tensor.cpu_reductions import softmax


@pytest.mark.parametrize(
    ("alpha", "beta", "expected"),
    [
        (1, 0, [[3.75, 23.0], [10.5, 44.0]]),
        (2, 0, [[7.5, 46.0], [21.0, 88.0]]),
        (1, 1, [[13.75, 33.0], [20.5, 54.0]]),
        (0.5, -1, [[-8.125, 1.5], [-4.75, 12.0]]),
        (0, 0, [[0, 0], [0, 0]]),
    ],
)
def test_a_product_is_scaled_and_accumulated(kernels, tensor, alpha, beta, expected) -> None:
    a = tensor([[1, 2, 3], [4, 5, 6]])
    b = tensor([[0.5, -1], [2, 0], [-0.25, 8]])
    c = tensor([[10, 10], [10, 10]])
    kernels("tfrt_test.matmul.f32.2", alpha, a, b, beta, c, CHAIN)
    assert c.array.tolist() == expected


def test_a_product_of_integers_wraps(kernels, tensor) -> None:
    a = tensor([[1, -2], [3, 4]], "int32")
    c = tensor([[10, 10], [10, 10]], "int32")
    kernels("tfrt_test.matmul.i32.2", 2, a, a, 3, c, CHAIN)
    assert c.array.tolist() == [[20, 10], [60, 50]]

    big = tensor([[2**31 - 1]], "int32")
    kernels("tfrt_test.matmul.i32.2", 1, big, big, 0, big, CHAIN)
    assert big.array.tolist() == [[1]]


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        (
            (2, 3),
            (2, 3),
            (2, 3),
            r"MatMul argument tensors inner dimension mismatch: [2, 3] vs. [2, 3]",
        ),
        (
            (2, 3),
            (3, 4),
            (4, 2),
            "MatMul result shape [4, 2] does not match product shape of arguments: [2, 3] * [3, 4]",
        ),
        ((2, 3), (3,), (2, 3), "expected a tensor of rank 2, not of shape [3]"),
    ],
)
def test_shapes_without_a_product_are_refused_in_the_seeds_words(
    kernels, tensor, a, b, c, message
) -> None:
    operands = [tensor(np.zeros(sizes)) for sizes in (a, b, c)]
    with pytest.raises(KernelError) as caught:
        kernels("tfrt_test.matmul.f32.2", 1.0, operands[0], operands[1], 0.0, operands[2], CHAIN)
    assert caught.value.message == message


def test_a_product_over_nothing_is_zero(kernels, tensor) -> None:
    c = tensor([[7.0]])
    operands = tensor(np.zeros((1, 0))), tensor(np.zeros((0, 1)))
    kernels("tfrt_test.matmul.f32.2", 1.0, *operands, 0.0, c, CHAIN)
    assert c.array.tolist() == [[0.0]]


def test_with_beta_zero_the_old_content_does_not_matter() -> None:
    one, result = np.ones((1, 1), np.float32), np.full((1, 1), np.nan, np.float32)
    accumulate_product(2, one, one, 0, result)
    assert result.tolist() == [[2]]


def test_infinite_products_are_silent(kernels, tensor) -> None:
    a, c = tensor([[np.inf, -np.inf]]), tensor([[0.0]])
    kernels("tfrt_test.matmul.f32.2", 1.0, a, tensor([[1.0], [1.0]]), 0.0, c, CHAIN)
    assert str(c).endswith("values = [nan]")


@pytest.mark.parametrize(
    ("name", "dtype", "inputs", "expected"),
    [
        ("relu.f32", "float32", [[-1.5, 0, 2.5]], [0, 0, 2.5]),
        ("relu.i32", "int32", [[-1, 0, 2]], [0, 0, 2]),
        ("add.f32", "float32", [[1, 2, 3], [0.5, -2, 0]], [1.5, 0, 3]),
        ("add.i32", "int32", [[1, 2, 2**31 - 1], [1, -2, 1]], [2, 0, -(2**31)]),
        ("equal.f32", "float32", [[1, 2, np.nan], [1, 3, np.nan]], [1, 0, 0]),
        ("equal.i32", "int32", [[1, 2, 3], [1, 3, 3]], [1, 0, 1]),
    ],
)
def test_elementwise_kernels_make_a_tensor_or_write_into_one(
    kernels, tensor, name, dtype, inputs, expected
) -> None:
    operands = [tensor(values, dtype) for values in inputs]
    made = kernels(f"tfrt_test.{name}", *operands, CHAIN)
    target = tensor([9, 9, 9], dtype)
    chain = kernels(f"tfrt_test.{name}", *operands, target, CHAIN)
    stem, word = name.split(".")
    kernels(f"tfrt_test.{stem}_inplace.{word}", *operands, CHAIN)

    assert chain is CHAIN
    results = [tensor.array.tolist() for tensor in (made, target, operands[-1])]
    assert results == [expected] * 3


@pytest.mark.parametrize(
    ("name", "dtype", "values", "expected"),
    [
        ("i32_to_f32", "int32", [-1, 0, 7], [-1.0, 0.0, 7.0]),
        ("f32_to_i32", "float32", [-1.75, 0.5, 7.0], [-1, 0, 7]),
    ],
)
def test_elements_are_cast_toward_zero(kernels, tensor, name, dtype, values, expected) -> None:
    made = kernels(f"tfrt_test.cast.{name}", tensor(values, dtype), CHAIN)
    assert made.array.tolist() == expected


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


@given(arrays.arrays(np.float32, arrays.array_shapes(max_dims=3)))
def test_relu_is_the_larger_of_each_element_and_zero(source: np.ndarray) -> None:
    target = np.empty_like(source)
    relu(source, target)
    same = (target == np.where(source > 0, source, 0)) | np.isnan(source)
    assert same.all()


@pytest.mark.parametrize(
    ("sizes", "target"),
    [((3,), (2, 3)), ((1, 3), (2, 3)), ((2, 1), (2, 3)), ((), (2, 3)), ((1, 3), (2, 2, 3))],
)
@pytest.mark.parametrize(("word", "dtype"), [("f32", "float32"), ("i32", "int32")])
def test_broadcasting_repeats_elements(kernels, tensor, sizes, target, word, dtype) -> None:
    source = tensor(np.arange(np.prod(sizes, dtype=int)).reshape(sizes), dtype)
    name = f"tfrt_test.broadcast.{word}.{len(target)}"
    made = kernels(name, source, TensorShape(target), CHAIN)
    assert np.array_equal(made.array, np.broadcast_to(source.array, target))


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


@pytest.mark.parametrize(("word", "dtype"), [("f32", "float32"), ("i32", "int32")])
def test_a_slice_is_cut_out(kernels, tensor, word, dtype) -> None:
    source = tensor(np.arange(24).reshape(2, 3, 4), dtype)
    target = tensor(np.zeros((1, 2, 2)), dtype)
    begin = tensor([1, 0, 2], "int64")
    kernels(f"tfrt_test.slice_inplace.{word}.3", source, begin, target, CHAIN)
    assert target.array.tolist() == [[[14, 15], [18, 19]]]


@pytest.mark.parametrize("begin", [[2, 0, 0], [-1, 0, 0], [0, 0], [2**62, 0, 0]])
def test_a_slice_outside_the_tensor_is_refused(kernels, tensor, begin) -> None:
    source, target = tensor(np.zeros((2, 3, 4))), tensor(np.zeros((1, 2, 2)))
    with pytest.raises(KernelError, match=r"a slice of shape \[1, 2, 2\] at .* is not within"):
        kernels("tfrt_test.slice_inplace.f32.3", source, tensor(begin, "int64"), target, CHAIN)


@pytest.mark.parametrize("sizes", [(6,), (2, 3), (1, 2, 3), (1, 2, 1, 3)])
def test_the_mean_and_the_largest_of_every_rank(kernels, tensor, sizes) -> None:
    source = tensor(np.array([1, 5, 3, 2, 9, 4]).reshape(sizes))
    mean = kernels(f"tfrt_test.reduce_mean.f32.{len(sizes)}", source, CHAIN)
    largest = kernels(f"tfrt_test.argmax.f32.{len(sizes)}", source, CHAIN)
    assert (mean.shape, mean.array.tolist()) == (TensorShape(()), 4.0)
    assert str(largest.element_type) == "i32"
    assert np.array_equal(largest.array, source.array.argmax(axis=-1))


def test_the_mean_of_nothing_is_nan_and_the_largest_an_error(kernels, tensor) -> None:
    nothing = tensor(np.zeros((2, 0)))
    assert np.isnan(kernels("tfrt_test.reduce_mean.f32.2", nothing, CHAIN).array)
    with pytest.raises(KernelError, match="there is no largest of no elements"):
        kernels("tfrt_test.argmax.f32.2", nothing, CHAIN)


def test_softmax_is_printed_as_the_reference_prints_it(kernels, tensor) -> None:
    row = tensor([0.0, 1.0, -1.0, 2.0])
    kernels("tfrt_test.softmax_inplace.f32", row, CHAIN)
    kernels("tfrt_dht.print_tensor", row, CHAIN)
    assert kernels.printed == (
        "DenseHostTensor dtype = f32, shape = [4], "
        "values = [8.714432e-02, 2.368828e-01, 3.205860e-02, 6.439142e-01]\n"
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [(5.0, 1.0), ([], []), ([[1000.0, 1000.0], [-1000.0, 1000.0]], [[0.5, 0.5], [0.0, 1.0]])],
)
def test_softmax_takes_every_rank_and_any_size_of_number(kernels, tensor, values, expected) -> None:
    target = tensor(values)
    kernels("tfrt_test.softmax_inplace.f32", target, CHAIN)
    assert target.array.tolist() == expected


@given(arrays.arrays(np.float32, (3, 4), elements=st.floats(-(2.0**99), 2.0**99, width=32)))
def test_rows_of_a_softmax_sum_to_one(rows: np.ndarray) -> None:
    softmax(rows)
    assert np.allclose(rows.sum(axis=1), 1)


def test_a_small_network_classifies(kernels, tensor) -> None:
    """The two layers of the corpus's `mlp_infer`, kernel by kernel."""
    x = tensor([[1.0, 0.0, -1.0], [0.5, 2.0, 1.0]])
    hidden = _layer(
        kernels,
        x,
        tensor([[0.5, -0.5, 1, 0.25], [1, 0.5, -1, 0], [0.25, 0.75, 0.5, -2]]),
        tensor([0.125, 0.0, -0.25, 0.5]),
    )
    kernels("tfrt_test.relu_inplace.f32", hidden, CHAIN)
    weights = tensor([[1, -1], [0.5, 0.5], [-0.5, 1], [0.25, 0.75]])
    output = _layer(kernels, hidden, weights, tensor([0.0, 0.25]))
    chosen = kernels("tfrt_test.argmax.f32.2", output, CHAIN)
    assert output.array.tolist() == [[0.9375, 2.1875], [3.375, -1.625]]
    assert chosen.array.tolist() == [1, 0]


def _layer(
    kernels, x: DenseHostTensor, weights: DenseHostTensor, bias: DenseHostTensor
) -> DenseHostTensor:
    sizes = (x.shape.sizes[0], weights.shape.sizes[1])
    y = kernels("tfrt_dht.create_uninitialized_tensor.f32.2", attributes=(sizes,))
    kernels("tfrt_test.matmul.f32.2", 1.0, x, weights, 0.0, y, CHAIN)
    repeated = kernels("tfrt_test.broadcast.f32.2", bias, TensorShape(sizes), CHAIN)
    kernels("tfrt_test.add_inplace.f32", repeated, y, CHAIN)
    return y
