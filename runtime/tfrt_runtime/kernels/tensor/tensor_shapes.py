"""Shapes as values of a program: `ts.*`."""

from __future__ import annotations

from typing import Final

from tfrt_runtime.host.tensor.shapes import (
    MAXIMUM_COUNT,
    PartialTensorShape,
    TensorShape,
    known_shape,
)
from tfrt_runtime.kernels.frame import KernelFrame, expect
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry, Shortcut
from tfrt_runtime.kernels.tensor.arguments import shape_of

REGISTRY: Final = KernelRegistry("tensor shapes")

MAXIMUM_FIXED_RANK: Final = 5


@REGISTRY.kernel(
    "ts.build_shape",
    attributes=("array.i64",),
    results=("object",),
    shortcut=Shortcut(
        "tensor_kernels.build_shape",
        lambda sizes: (len(sizes), known_shape(sizes).element_count, *sizes),
    ),
)
def build_shape(sizes: tuple[int, ...]) -> TensorShape:
    """Return the shape with these sizes."""
    return shape_of(sizes)


@REGISTRY.kernel("ts.print_shape", results=("chain",), frame=True)
def print_shape(frame: KernelFrame, shape: object) -> None:
    """Print `shape = [1, 57, 92]`."""
    frame.host.print(f"shape = {expect(TensorShape, shape)}\n")


@REGISTRY.kernel("ts.equal_shape", results=("i1",))
def equal_shape(left: object, right: object) -> bool:
    """Return whether two shapes have the same sizes."""
    return expect(TensorShape, left) == expect(TensorShape, right)


@REGISTRY.kernel("ts.get_dimension", results=("i64",))
def get_dimension(shape: object, index: int) -> int:
    """Return the size of dimension `index` of a shape, counting from 0."""
    sizes = expect(TensorShape, shape).sizes
    if not 0 <= index < len(sizes):
        raise KernelError(f"no dimension {index} in shape {shape}")
    return sizes[index]


@REGISTRY.kernel("ts.get_num_elements", results=("i64",))
def get_num_elements(shape: object) -> int:
    """Return the number of elements in a tensor of this shape."""
    count = expect(TensorShape, shape).element_count
    if count > MAXIMUM_COUNT:
        raise KernelError(f"the number of elements of shape {shape} does not fit into i64")
    return count


# --- shapes whose rank is in the kernel's name ---


def _add_fixed_rank(rank: int) -> None:
    @REGISTRY.kernel(f"ts.as_fixed_rank_shape.{rank}", results=("object",))
    def as_fixed_rank_shape(shape: object) -> TensorShape:
        known = expect(TensorShape, shape)
        if known.rank != rank:
            raise KernelError(f"expected a shape of rank {rank}, not {known}")
        return known

    @REGISTRY.kernel(f"ts.print_fixed_rank_shape.{rank}", results=("chain",), frame=True)
    def print_fixed_rank_shape(frame: KernelFrame, shape: object) -> None:
        frame.host.print(f"fixed_rank_shape = {as_fixed_rank_shape(shape)}\n")


for _rank in range(MAXIMUM_FIXED_RANK + 1):
    _add_fixed_rank(_rank)


# --- partially known shapes ---


@REGISTRY.kernel("ts.build_partial_shape", attributes=("array.i64",), results=("object",))
def build_partial_shape(sizes: tuple[int, ...]) -> PartialTensorShape:
    """Return the partial shape with these sizes, where -1 means an unknown size."""
    try:
        return PartialTensorShape(sizes)
    except ValueError as error:
        raise KernelError(str(error)) from None


@REGISTRY.kernel("ts.build_unranked_partial_shape", results=("object",))
def build_unranked_partial_shape() -> PartialTensorShape:
    """Return the partial shape of unknown rank."""
    return PartialTensorShape(None)


@REGISTRY.kernel("ts.print_partial_shape", results=("chain",), frame=True)
def print_partial_shape(frame: KernelFrame, shape: object) -> None:
    """Print `partial_tensor_shape = [-1, 28]` or `partial_tensor_shape = Unknown rank`."""
    frame.host.print(f"partial_tensor_shape = {expect(PartialTensorShape, shape)}\n")


@REGISTRY.kernel("ts.to_shape", results=("object",))
def to_shape(shape: object) -> TensorShape:
    """Return the partial shape as a shape; all sizes must be known."""
    try:
        return expect(PartialTensorShape, shape).to_shape()
    except ValueError as error:
        raise KernelError(str(error)) from None


@REGISTRY.kernel("ts.to_partial_shape", results=("object",))
def to_partial_shape(shape: object) -> PartialTensorShape:
    """Return the shape as a partial shape."""
    return PartialTensorShape(expect(TensorShape, shape).sizes)
