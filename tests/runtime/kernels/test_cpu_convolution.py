"""Test image kernels: convolution, pooling, and normalization."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.kernels.tensor.cpu_convolution import Axis, plan_axis

CASES = [
    pytest.param(image, window, strides, padding, id=f"{image}-{window}-{strides}-{padding}")
    for image, window, strides, padding in product(
        [(1, 1), (4, 5), (6, 3)], [(1, 1), (3, 3), (2, 4)], [(1, 1), (2, 3)], ["same", "valid"]
    )
]


def numbers(*sizes: int) -> np.ndarray:
    """Draw small whole numbers, whose sums are exact in every order."""
    return np.random.default_rng(7).integers(-4, 5, sizes).astype(np.float32)


def windows(images: np.ndarray, axes: tuple[Axis, Axis], outside: float) -> np.ndarray:
    """Compute windows by their definition, cut out one by one.

    The result has the dimensions `[rows, columns, batch, height, width, channels]`.
    """
    rows, columns = axes
    edges = ((0, 0), (rows.before, rows.after), (columns.before, columns.after), (0, 0))
    extended = np.pad(images, edges, constant_values=outside)
    shape = (rows.count, columns.count, len(images), rows.size, columns.size, images.shape[3])
    found = np.empty(shape, np.float32)
    for row, column in np.ndindex(rows.count, columns.count):
        top, left = row * rows.stride, column * columns.stride
        found[row, column] = extended[:, top : top + rows.size, left : left + columns.size]
    return found


def axes_of(image, window, strides, padding) -> tuple[Axis, Axis]:
    rows, columns = map(plan_axis, image, window, strides, [padding] * 2)
    return rows, columns


@pytest.mark.parametrize(("image", "window", "strides", "padding"), CASES)
def test_convolution_sums_over_each_window(
    kernels, tensor, image, window, strides, padding
) -> None:
    images, filters = numbers(2, *image, 3), numbers(*window, 3, 4)
    axes = axes_of(image, window, strides, padding)
    expected = np.tensordot(windows(images, axes, 0), filters, axes=3).transpose(2, 0, 1, 3)

    target = tensor(np.full((2, axes[0].count, axes[1].count, 4), 99))
    operands = tensor(images), tensor(filters), target, CHAIN
    kernels("tfrt_test.conv2d.f32", *operands, attributes=(padding, strides))

    assert np.array_equal(target.array, expected)


@pytest.mark.parametrize(("image", "window", "strides", "padding"), CASES)
def test_pooling_takes_the_largest_of_each_window(
    kernels, tensor, image, window, strides, padding
) -> None:
    images = numbers(2, *image, 3)
    axes = axes_of(image, window, strides, padding)
    expected = windows(images, axes, -np.inf).max(axis=(3, 4)).transpose(2, 0, 1, 3)

    target = tensor(np.full(expected.shape, 99))
    operands = tensor(images), target, CHAIN
    kernels("tfrt_test.max_pooling_2d.f32", *operands, attributes=(padding, window, strides))

    assert np.array_equal(target.array, expected)


@pytest.mark.parametrize(
    ("length", "size", "stride", "padding", "before", "after", "count"),
    [
        (5, 3, 1, "valid", 0, 0, 3),
        (5, 3, 2, "valid", 0, 0, 2),
        (2, 3, 1, "valid", 0, 0, 0),
        (5, 3, 1, "same", 1, 1, 5),
        (5, 2, 1, "same", 0, 1, 5),
        (5, 3, 2, "same", 1, 1, 3),
        (5, 1, 3, "same", 0, 0, 2),
        (0, 3, 1, "same", 1, 1, 0),
    ],
)
def test_windows_are_planned_along_one_axis(
    length, size, stride, padding, before, after, count
) -> None:
    planned = plan_axis(length, size, stride, padding)
    assert planned == Axis(length, size, stride, before, after, count)


@pytest.mark.parametrize(
    ("padding", "strides", "sizes", "message"),
    [
        ("full", (1, 1), (1, 2, 2, 1), "padding is 'valid' or 'same', not 'full'"),
        ("valid", (1,), (1, 2, 2, 1), "expected two numbers each"),
        (
            "valid",
            (0, 1),
            (1, 2, 2, 1),
            "a window of 2 pixels with a stride of 0 pixels is invalid",
        ),
        (
            "valid",
            (1, -1),
            (1, 2, 2, 1),
            "a window of 2 pixels with a stride of -1 pixels is invalid",
        ),
        ("same", (1, 1), (1, 2, 2, 1), r"has shape \[1, 2, 2, 1\], but needs \[1, 3, 3, 1\]"),
    ],
)
def test_attributes_that_make_no_sense_are_refused(
    kernels, tensor, padding, strides, sizes, message
) -> None:
    images, filters = tensor(np.ones((1, 3, 3, 1))), tensor(np.ones((2, 2, 1, 1)))
    with pytest.raises(KernelError, match=message):
        kernels(
            "tfrt_test.conv2d.f32",
            images,
            filters,
            tensor(np.ones(sizes)),
            CHAIN,
            attributes=(padding, strides),
        )
    with pytest.raises(KernelError, match=message):
        kernels(
            "tfrt_test.max_pooling_2d.f32",
            images,
            tensor(np.ones(sizes)),
            CHAIN,
            attributes=(padding, (2, 2), strides),
        )


def test_the_memory_that_a_convolution_needs_is_given_back(kernels, tensor) -> None:
    images, filters = tensor(numbers(1, 4, 4, 1)), tensor(numbers(3, 3, 1, 1))
    target = tensor(np.ones((1, 4, 4, 1)))
    kernels("tfrt_test.conv2d.f32", images, filters, target, CHAIN, attributes=("same", (1, 1)))
    ledger = kernels.host.allocator.ledger
    assert (ledger.total_allocations, ledger.current_allocations) == (2, 0)


def test_parameters_of_other_channels_are_refused(kernels, tensor) -> None:
    images, wrong = tensor(np.ones((1, 1, 1, 2))), tensor([1.0])
    with pytest.raises(KernelError, match=r"BatchNorm parameter of shape \[1\] for images"):
        kernels("tfrt_test.batch_norm_inplace.f32", images, *[wrong] * 4, CHAIN, attributes=(0.1,))
