"""Sparse tensors: coordinates and values of the nonzero elements."""

from __future__ import annotations

import numpy as np

from tfrt_runtime.host.allocator import HostAllocator
from tfrt_runtime.host.payload import HostTensor
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.shapes import I64, ElementType, TensorShape, elements_text


class CooHostTensor(HostTensor):
    """A tensor of `shape` with `values` at `indices`, and 0 elsewhere.

    `indices` contains one row of i64 per value.
    """

    __slots__ = ("indices", "shape", "values")

    def __init__(
        self, shape: TensorShape, indices: DenseHostTensor, values: DenseHostTensor
    ) -> None:
        """Create a tensor with the given elements.

        Raises:
            ValueError: unless each value has one row of indices, and all indices are inside the
                shape.
        """
        count = values.shape.element_count
        if indices.shape.sizes != (count, shape.rank) or values.shape.rank != 1:
            raise ValueError(
                f"indices of shape {indices.shape} do not place {count} values in shape {shape}"
            )
        rows = indices.array
        if not ((rows >= 0).all() and (rows < np.array(shape.sizes, np.int64)).all()):
            raise ValueError(f"an index is outside shape {shape}")
        self.shape = shape
        self.indices = indices
        self.values = values

    @property
    def element_type(self) -> ElementType:
        """The type of the values."""
        return self.values.element_type

    @classmethod
    def from_dense(cls, allocator: HostAllocator, tensor: DenseHostTensor) -> CooHostTensor | None:
        """Return the nonzero elements of `tensor`, in order; return None if out of memory."""
        rows = np.argwhere(tensor.array)
        indices = DenseHostTensor.create(allocator, I64, TensorShape(rows.shape))
        values = DenseHostTensor.create(allocator, tensor.element_type, TensorShape((len(rows),)))
        if indices is None or values is None:
            return None
        indices.array[...] = rows
        values.array[...] = tensor.array[tensor.array != 0]
        return cls(tensor.shape, indices, values)

    def to_dense(self, allocator: HostAllocator) -> DenseHostTensor | None:
        """Return all elements as a dense tensor; return None if out of memory."""
        tensor = DenseHostTensor.create(allocator, self.element_type, self.shape)
        if tensor is not None:
            tensor.array[...] = 0
            # `positions` contains the index of each value in the row-by-row order of all elements.
            steps = np.cumprod((1, *self.shape.sizes[:0:-1]), dtype=np.int64)[::-1]
            # For rank 0, `steps` has one step too many.
            positions = self.indices.array @ steps[: self.shape.rank]
            tensor.array.reshape(-1)[positions] = self.values.array
        return tensor

    def __str__(self) -> str:
        # The newline matches the reference, which prints an empty line after a sparse tensor.
        return (
            f"CooHostTensor dtype = {self.element_type}, shape = {self.shape}, "
            f"indices = [{elements_text(I64, self.indices.array)}], "
            f"values = [{elements_text(self.element_type, self.values.array)}]\n"
        )
