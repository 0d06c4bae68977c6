"""Kernels that calculate with tensor elements, using numpy.

Elementwise kernels come first.  If an elementwise kernel gets an additional operand, it writes its
result into that operand and returns a chain.  Otherwise, it returns a new tensor.  A kernel with
`_inplace` in its name writes into its last tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from tfrt_runtime.host.payload import CHAIN, Chain
from tfrt_runtime.host.tensor.dense import ELEMENT_NUMBERS, DenseHostTensor
from tfrt_runtime.host.tensor.shapes import F32, I32, I64, AnyArray, ElementType, TensorShape
from tfrt_runtime.kernels.frame import KernelFrame, expect
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry, Shortcut
from tfrt_runtime.kernels.tensor.arguments import (
    dense_tensor,
    new_tensor,
    output_tensor,
    quietly,
    require_same_shape,
)

REGISTRY: Final = KernelRegistry("elements")

# A function that computes from all arrays but the last, and writes the result into the last.  All
# have the same shape.
Operation = Callable[..., object]


# Converted once, because numpy takes longer to convert a scalar than to compare a row.
_ZEROS: Final = {element.storage: np.zeros((), element.storage) for element in (F32, I32)}


def relu(source: AnyArray, target: AnyArray) -> None:
    """Copy the positive elements, and write zero for the others; NaN stays NaN."""
    np.maximum(source, _ZEROS[source.dtype], out=target)


def convert(source: AnyArray, target: AnyArray) -> None:
    """Truncate numbers toward zero. NaN and numbers that do not fit become the smallest i32."""
    if source.dtype.kind == "f":
        # The conversion of such numbers depends on the processor: x86 makes the smallest i32, and
        # AArch64 the nearest i32.
        source = np.where((source >= -(2.0**31)) & (source < 2.0**31), source, -(2.0**31))
    np.copyto(target, source, casting="unsafe")


def equal(left: AnyArray, right: AnyArray, target: AnyArray) -> None:
    """Write 1 where the elements are equal, and 0 elsewhere."""
    np.equal(left, right, out=target, casting="unsafe")


def _operands(operands: Iterable[object], least: int, most: int) -> list[object]:
    """Return the tensors among the operands.  A chain only orders the call."""
    tensors = [operand for operand in operands if operand is not CHAIN]
    if not least <= len(tensors) <= most:
        count = str(least) if least == most else f"{least} or {most}"
        raise KernelError(f"expected {count} tensors, not {len(tensors)}")
    return tensors


def _add(
    name: str, operation: Operation, arity: int, source: ElementType, target: ElementType
) -> None:
    run = quietly(operation)

    @REGISTRY.kernel(name, frame=True)
    def elementwise(frame: KernelFrame, *operands: object) -> DenseHostTensor | Chain:
        given = _operands(operands, arity, arity + 1)
        tensors = [dense_tensor(operand, source) for operand in given[:arity]]
        for other in tensors[1:]:
            require_same_shape(tensors[0], other, "argument shapes differ")
        if len(given) == arity:
            result = new_tensor(frame, target, tensors[0].shape.sizes)
        else:
            result = output_tensor(given[arity], target)
            require_same_shape(tensors[0], result, "argument and result shapes differ")
        run(*[tensor.array for tensor in tensors], result.array)
        return result if len(given) == arity else CHAIN


def _add_inplace(name: str, operation: Operation, arity: int, element_type: ElementType) -> None:
    is_native = operation is relu and element_type is F32
    native = Shortcut("tensor_kernels.relu_inplace") if is_native else None
    run = quietly(operation)

    @REGISTRY.kernel(name, results=("chain",), shortcut=native)
    def elementwise_inplace(*operands: object) -> None:
        given = _operands(operands, arity, arity)
        tensors = [
            *(dense_tensor(operand, element_type) for operand in given[:-1]),
            output_tensor(given[-1], element_type),
        ]
        require_same_shape(tensors[0], tensors[-1], "argument shapes differ")
        run(*[tensor.array for tensor in tensors], tensors[-1].array)


for _name, _operation, _arity in (("relu", relu, 1), ("add", np.add, 2), ("equal", equal, 2)):
    for _type in (F32, I32):
        _add(f"tfrt_test.{_name}.{_type.word}", _operation, _arity, _type, _type)
        _add_inplace(f"tfrt_test.{_name}_inplace.{_type.word}", _operation, _arity, _type)

for _source, _target in ((I32, F32), (F32, I32)):
    _add(f"tfrt_test.cast.{_source.word}_to_{_target.word}", convert, 1, _source, _target)


# --- kernels that repeat and select elements ---


def _add_broadcast(element_type: ElementType, rank: int) -> None:
    @REGISTRY.kernel(
        f"tfrt_test.broadcast.{element_type.word}.{rank}",
        results=("object",),
        frame=True,
        shortcut=Shortcut("tensor_kernels.broadcast", (ELEMENT_NUMBERS[element_type.dtype], rank)),
    )
    def broadcast(frame: KernelFrame, tensor: object, shape: object) -> DenseHostTensor:
        source = dense_tensor(tensor, element_type)
        sizes = expect(TensorShape, shape).sizes
        if len(sizes) != rank:
            raise KernelError(f"expected a shape of rank {rank}, not {shape}")
        refused = KernelError(f"cannot broadcast a tensor of shape {source.shape} to {shape}")
        if source.shape.rank > rank:
            raise refused
        result = new_tensor(frame, element_type, sizes)
        try:
            result.array[...] = source.array
        except ValueError:
            raise refused from None
        return result


def _add_slice(element_type: ElementType, rank: int) -> None:
    @REGISTRY.kernel(f"tfrt_test.slice_inplace.{element_type.word}.{rank}", results=("chain",))
    def slice_inplace(tensor: object, begin: object, *rest: object) -> None:
        # TFRT's kernel takes a chain before the tensor that it writes.  This kernel also accepts
        # the chain as its last operand.
        outputs = [operand for operand in rest if operand is not CHAIN]
        if len(outputs) != 1:
            raise KernelError(f"expected one tensor to write to, found {len(outputs)}")
        source, target = (
            dense_tensor(tensor, element_type, rank),
            output_tensor(outputs[0], element_type, rank),
        )
        start = tuple(dense_tensor(begin, I64, 1).array.tolist())
        if len(start) != rank or not _contains(source.shape, start, target.shape):
            raise KernelError(
                f"a slice of shape {target.shape} at {list(start)} is not within {source.shape}"
            )
        window = zip(start, target.shape.sizes, strict=True)
        target.array[...] = source.array[tuple(slice(at, at + size) for at, size in window)]


def _contains(shape: TensorShape, start: tuple[int, ...], part: TensorShape) -> bool:
    bounds = zip(start, part.sizes, shape.sizes, strict=True)
    return all(0 <= at and at + size <= limit for at, size, limit in bounds)


for _type in (F32, I32):
    _add_broadcast(_type, 2)
    _add_broadcast(_type, 3)
    _add_slice(_type, 3)


# --- kernels that reduce elements, or divide rows ---

# The exponential of this number, times the length of a row, is far from the limits of f32.
SAFE_EXPONENT: Final = np.float32(40)


@quietly
def mean(elements: AnyArray) -> np.float32:
    """Return the sum divided by the count, or NaN if there are no elements.

    numpy's own mean would also warn.
    """
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
    )
    def argmax(frame: KernelFrame, tensor: object) -> DenseHostTensor:
        source = dense_tensor(tensor, element_type, rank)
        if source.shape.sizes[-1] == 0:
            raise KernelError(
                f"a tensor of shape {source.shape} is empty: it has no largest element"
            )
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
    """Replace each row along the last dimension with exp(row) / sum(exp(row))."""
    target = output_tensor(tensor, F32)
    if target.shape.element_count:
        softmax(target.array)


@REGISTRY.kernel("tfrt_test.softmax.f32", results=("chain",))
def softmax_into(tensor: object, result: object) -> None:
    """Compute softmax as `softmax_inplace` does, but into another tensor of the same shape."""
    source, target = dense_tensor(tensor, F32), output_tensor(result, F32)
    if source.shape != target.shape:
        raise KernelError(f"softmax of shape {source.shape} does not fit in shape {target.shape}")
    target.array[...] = source.array
    if target.shape.element_count:
        softmax(target.array)


@quietly
def softmax(rows: AnyArray) -> None:
    """Compute softmax along the last axis, in place."""
    if rows.ndim == 0:
        rows[...] = 1
        return
    # Subtracting a constant from all exponents changes the quotients at most in their last digit,
    # so subtract one only if a row's largest exponential would otherwise overflow or vanish.
    largest = rows.max(axis=-1, keepdims=True)
    if not (np.abs(largest) <= SAFE_EXPONENT).all():
        rows -= largest - np.clip(largest, -SAFE_EXPONENT, SAFE_EXPONENT)
    np.exp(rows, out=rows)
    rows /= rows.sum(axis=-1, keepdims=True)
