"""The basis of tensor kernels: checked arguments, new tensors, arithmetic without
warnings.

A program in a BEF file may put any value anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.shapes import ElementType, TensorShape, known_shape, sizes_text
from tfrt_runtime.kernels.frame import Expected, KernelFrame, expect
from tfrt_runtime.kernels.registry import KernelError

quietly = np.errstate(all="ignore")
"""Decorates what calculates: to a kernel infinities and NaNs are numbers like others."""


def dense_tensor(
    value: object, element_type: ElementType | None = None, rank: int | None = None
) -> DenseHostTensor:
    """`value`, which is a dense tensor of that type and rank.

    Raises:
        KernelError: if it is not.
    """
    if isinstance(value, np.ndarray):  # its rows are apart
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
    """As `dense_tensor`, of a tensor that the kernel writes: see `DenseHostTensor.writable`."""
    return dense_tensor(value, element_type, rank).writable()


def shape_of(sizes: tuple[int, ...]) -> TensorShape:
    """The shape with these sizes.

    Raises:
        KernelError: if there is none.
    """
    try:
        return known_shape(sizes)
    except ValueError as error:
        raise KernelError(str(error)) from None


def new_tensor(
    frame: KernelFrame, element_type: ElementType, sizes: Sequence[int]
) -> DenseHostTensor:
    """A tensor of unknown content from the host's allocator.

    Raises:
        KernelError: if there is no such shape, or no memory.
    """
    shape = shape_of(tuple(sizes))
    try:
        return allocated(DenseHostTensor.create(frame.host.allocator, element_type, shape))
    except ValueError as error:
        raise KernelError(str(error)) from None


def allocated(tensor: Expected | None) -> Expected:
    """`tensor`, if the allocator gave memory for it.

    Raises:
        KernelError: if not.
    """
    if tensor is None:
        raise KernelError("Cannot allocate tensor")
    return tensor


def require_same_shape(left: DenseHostTensor, right: DenseHostTensor, what: str) -> None:
    """Check that both have the same shape.

    Raises:
        KernelError: if not; the message starts with `what`.
    """
    if left.shape != right.shape:
        raise KernelError(
            f"{what}: {sizes_text(left.shape.sizes)} vs. {sizes_text(right.shape.sizes)}"
        )
