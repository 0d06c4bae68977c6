"""Shared parts of tensor kernels: argument checks, new tensors, and arithmetic without warnings.

A BEF file may pass any value to any kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.shapes import ElementType, TensorShape, known_shape, sizes_text
from tfrt_runtime.kernels.frame import Expected, KernelFrame, expect
from tfrt_runtime.kernels.registry import KernelError

quietly = np.errstate(all="ignore")
"""A decorator for calculations in which infinities and NaNs cause no warnings."""


def dense_tensor(
    value: object, element_type: ElementType | None = None, rank: int | None = None
) -> DenseHostTensor:
    """Return `value`, which must be a dense tensor of the given type and rank.

    Raises:
        KernelError: if `value` is anything else.
    """
    if isinstance(value, np.ndarray):  # a non-contiguous array
        value = DenseHostTensor.over(value)
    tensor = expect(DenseHostTensor, value)
    if element_type is not None and tensor.element_type is not element_type:
        raise KernelError(f"expected a tensor of {element_type}, not of {tensor.element_type}")
    if rank is not None and tensor.shape.rank != rank:
        raise KernelError(f"expected a tensor of rank {rank}, not of shape {tensor.shape}")
    return tensor


def output_tensor(
    value: object, element_type: ElementType, rank: int | None = None
) -> DenseHostTensor:
    """Check a tensor that the kernel writes, as `dense_tensor` does; return it as `writable`."""
    return dense_tensor(value, element_type, rank).writable()


def shape_of(sizes: tuple[int, ...]) -> TensorShape:
    """Return the shape with these sizes.

    Raises:
        KernelError: if the sizes are invalid.
    """
    try:
        return known_shape(sizes)
    except ValueError as error:
        raise KernelError(str(error)) from None


def new_tensor(
    frame: KernelFrame, element_type: ElementType, sizes: Sequence[int]
) -> DenseHostTensor:
    """Return a tensor with undefined contents from the host's allocator.

    Raises:
        KernelError: if the shape is invalid or the allocator is out of memory.
    """
    shape = shape_of(tuple(sizes))
    try:
        return allocated(DenseHostTensor.create(frame.host.allocator, element_type, shape))
    except ValueError as error:
        raise KernelError(str(error)) from None


def allocated(tensor: Expected | None) -> Expected:
    """Check that the allocator had memory for `tensor`, and return `tensor`.

    Raises:
        KernelError: if `tensor` is None.
    """
    if tensor is None:
        raise KernelError("Cannot allocate tensor")
    return tensor


def require_same_shape(left: DenseHostTensor, right: DenseHostTensor, what: str) -> None:
    """Check that both tensors have the same shape.

    Raises:
        KernelError: if the shapes differ; the message starts with `what`.
    """
    if left.shape != right.shape:
        raise KernelError(
            f"{what}: {sizes_text(left.shape.sizes)} vs. {sizes_text(right.shape.sizes)}"
        )
