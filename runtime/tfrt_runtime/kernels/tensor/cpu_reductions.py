"""Kernels that make fewer elements of many, on numpy."""

from __future__ import annotations

from typing import Final

import numpy as np

from tfrt_runtime.host.tensor.buffers import ELEMENT_NUMBERS
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import F32, I32, AnyArray, ElementType
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry, Shortcut
from tfrt_runtime.kernels.tensor.arguments import dense_tensor, new_tensor, quietly

REGISTRY: Final = KernelRegistry("reductions")

# exp of it is far from the limits of f32, even times the length of a row.
SAFE_EXPONENT: Final = np.float32(40)


@quietly
def mean(elements: AnyArray) -> np.float32:
    """The sum divided by the number: NaN for none, of which numpy's own mean would warn."""
    total: np.float32 = elements.sum(dtype=np.float32)
    return total / np.float32(elements.size)


def _add_mean(rank: int) -> None:
    @REGISTRY.kernel(f"tfrt_test.reduce_mean.f32.{rank}", results=("object",), frame=True)
    def reduce_mean(frame: KernelFrame, tensor: object) -> DenseHostTensor:
        source = dense_tensor(tensor, F32, rank)
        result = new_tensor(frame, F32, ())
        result.array[...] = mean(source.array)
        return result


def _add_argmax(element_type: ElementType, rank: int) -> None:
    @REGISTRY.kernel(
        f"tfrt_test.argmax.{element_type.word}.{rank}",
        results=("object",),
        frame=True,
        shortcut=Shortcut("tensor_kernels.argmax", (ELEMENT_NUMBERS[element_type.dtype], rank)),
    )
    def argmax(frame: KernelFrame, tensor: object) -> DenseHostTensor:
        source = dense_tensor(tensor, element_type, rank)
        if source.shape.sizes[-1] == 0:
            raise KernelError(f"there is no largest of no elements, in shape {source.shape}")
        result = new_tensor(frame, I32, source.shape.sizes[:-1])
        result.array[...] = source.array.argmax(axis=-1)
        return result


for _rank in (1, 2, 3, 4):
    _add_mean(_rank)
    _add_argmax(F32, _rank)
    _add_argmax(I32, _rank)


@REGISTRY.kernel(
    "tfrt_test.softmax_inplace.f32",
    results=("chain",),
    shortcut=Shortcut("tensor_kernels.softmax_inplace"),
)
def softmax_inplace(tensor: object) -> None:
    """Make every row along the last dimension exp(row) / sum(exp(row))."""
    target = dense_tensor(tensor, F32)
    if target.shape.element_count:
        softmax(target.array)


@REGISTRY.kernel(
    "tfrt_test.softmax.f32", results=("chain",), shortcut=Shortcut("tensor_kernels.softmax_into")
)
def softmax_into(tensor: object, result: object) -> None:
    """As `softmax_inplace`, with the quotients in another tensor of the same shape."""
    source, target = dense_tensor(tensor, F32), dense_tensor(result, F32)
    if source.shape != target.shape:
        raise KernelError(f"softmax of shape {source.shape} does not fit in shape {target.shape}")
    target.array[...] = source.array
    if target.shape.element_count:
        softmax(target.array)


@quietly
def softmax(rows: AnyArray) -> None:
    """Softmax along the last axis, in place."""
    if rows.ndim == 0:
        rows[...] = 1
        return
    # A summand changes no quotient, but would change the last digit: so only where it is needed to
    # keep the largest exponential of a row from overflowing or vanishing.
    largest = rows.max(axis=-1, keepdims=True)
    if not (np.abs(largest) <= SAFE_EXPONENT).all():
        rows -= largest - np.clip(largest, -SAFE_EXPONENT, SAFE_EXPONENT)
    np.exp(rows, out=rows)
    rows /= rows.sum(axis=-1, keepdims=True)
