"""Kernels that treat every element alike, on numpy.

A kernel with an operand left over writes its result there and returns a chain; without, it returns
a new tensor.  The ones called `_inplace` write into their last tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tfrt_runtime.host.tensor.buffers import ELEMENT_NUMBERS
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import F32, I32, I64, AnyArray, ElementType
from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.kernels.frame import KernelFrame, expect
from tfrt_runtime.kernels.registry import CHAIN, Chain, KernelError, KernelRegistry, Shortcut
from tfrt_runtime.kernels.tensor.arguments import (
    dense_tensor,
    new_tensor,
    quietly,
    require_same_shape,
)
from tfrt_runtime.native.kernels.tensor_kernels import ADD, CAST, EQUAL, RELU

REGISTRY: Final = KernelRegistry("elementwise")

# Writes the result of the first arrays into the last one; all have the same shape.
Operation = Callable[..., object]


# Ready made: numpy takes longer to convert a scalar than to compare a row.
_ZEROS: Final = {element.storage: np.zeros((), element.storage) for element in (F32, I32)}


def relu(source: AnyArray, target: AnyArray) -> None:
    """What is above zero, and zero elsewhere; NaN stays NaN."""
    np.maximum(source, _ZEROS[source.dtype], out=target)


def convert(source: AnyArray, target: AnyArray) -> None:
    """The same numbers as C converts them: toward zero."""
    np.copyto(target, source, casting="unsafe")


def equal(left: AnyArray, right: AnyArray, target: AnyArray) -> None:
    """1 where the elements are equal, 0 elsewhere."""
    np.equal(left, right, out=target, casting="unsafe")


def _kernel(
    operation: Operation, arity: int, source: ElementType, target: ElementType
) -> Callable[..., DenseHostTensor | Chain]:
    run = quietly(operation)

    def elementwise(frame: KernelFrame, *operands: object) -> DenseHostTensor | Chain:
        inputs, outputs = _split(operands, arity)
        tensors = [dense_tensor(operand, source) for operand in inputs]
        for other in tensors[1:]:
            require_same_shape(tensors[0], other, "argument shapes differ")
        if outputs:
            result = dense_tensor(outputs[0], target)
            require_same_shape(tensors[0], result, "argument and result shapes differ")
        else:
            result = new_tensor(frame, target, tensors[0].shape.sizes)
        run(*[tensor.array for tensor in tensors], result.array)
        return CHAIN if outputs else result

    return elementwise


def _split(operands: tuple[object, ...], arity: int) -> tuple[list[object], list[object]]:
    """The tensors that are read, and the one that is written if there is one."""
    tensors = [operand for operand in operands if operand is not CHAIN]
    if not arity <= len(tensors) <= arity + 1:
        raise KernelError(f"expected {arity} or {arity + 1} tensors, not {len(tensors)}")
    return tensors[:arity], tensors[arity:]


def _inplace(operation: Operation, arity: int, element_type: ElementType) -> Callable[..., None]:
    run = quietly(operation)

    def elementwise_inplace(*operands: object) -> None:
        values = [operand for operand in operands if operand is not CHAIN]
        if len(values) != arity:
            raise KernelError(f"expected {arity} tensors, not {len(values)}")
        tensors = [dense_tensor(value, element_type) for value in values]
        require_same_shape(tensors[0], tensors[-1], "argument shapes differ")
        run(*[tensor.array for tensor in tensors], tensors[-1].array)

    return elementwise_inplace


_OPERATIONS: Final[dict[str, tuple[Operation, int]]] = {
    "relu": (relu, 1),
    "add": (np.add, 2),
    "equal": (equal, 2),
}

_NATIVE: Final = {relu: RELU, np.add: ADD, equal: EQUAL, convert: CAST}


def _shortcut(
    symbol: str, operation: Operation, arity: int, source: ElementType, target: ElementType
) -> Shortcut:
    numbers = (ELEMENT_NUMBERS[source.dtype], ELEMENT_NUMBERS[target.dtype])
    return Shortcut(f"tensor_kernels.{symbol}", (_NATIVE[operation], arity, *numbers))


def _register(
    name: str, operation: Operation, arity: int, source: ElementType, target: ElementType
) -> None:
    shortcut = _shortcut("elementwise", operation, arity, source, target)
    register = REGISTRY.kernel(name, frame=True, shortcut=shortcut)
    register(_kernel(operation, arity, source, target))


def _register_inplace(
    name: str, operation: Operation, arity: int, element_type: ElementType
) -> None:
    shortcut = _shortcut("elementwise_inplace", operation, arity, element_type, element_type)
    register = REGISTRY.kernel(name, results=("chain",), shortcut=shortcut)
    register(_inplace(operation, arity, element_type))


for _name, (_operation, _arity) in _OPERATIONS.items():
    for _element_type in (F32, I32):
        _word = _element_type.word
        _register(f"tfrt_test.{_name}.{_word}", _operation, _arity, _element_type, _element_type)
        _register_inplace(f"tfrt_test.{_name}_inplace.{_word}", _operation, _arity, _element_type)

for _source, _target in ((I32, F32), (F32, I32)):
    _name = f"tfrt_test.cast.{_source.word}_to_{_target.word}"
    _register(_name, convert, 1, _source, _target)


# --- kernels that repeat and select elements ---


def _broadcast(element_type: ElementType, rank: int) -> Callable[..., DenseHostTensor]:
    def broadcast(frame: KernelFrame, tensor: object, shape: object) -> DenseHostTensor:
        source = dense_tensor(tensor, element_type)
        sizes = expect(TensorShape, shape).sizes
        if len(sizes) != rank:
            raise KernelError(f"expected a shape of rank {rank}, not {shape}")
        if source.shape.rank > rank:
            raise _cannot_broadcast(source, shape)
        result = new_tensor(frame, element_type, sizes)
        try:
            result.array[...] = source.array
        except ValueError:
            raise _cannot_broadcast(source, shape) from None
        return result

    return broadcast


def _cannot_broadcast(source: DenseHostTensor, shape: object) -> KernelError:
    return KernelError(f"cannot broadcast a tensor of shape {source.shape} to {shape}")


def _slice_inplace(element_type: ElementType, rank: int) -> Callable[..., None]:
    def slice_inplace(tensor: object, begin: object, *rest: object) -> None:
        result = _only_tensor(rest)
        source, target = (dense_tensor(value, element_type, rank) for value in (tensor, result))
        start = tuple(dense_tensor(begin, I64, 1).array.tolist())
        if len(start) != rank or not _contains(source.shape, start, target.shape):
            raise KernelError(
                f"a slice of shape {target.shape} at {list(start)} is not within {source.shape}"
            )
        window = zip(start, target.shape.sizes, strict=True)
        target.array[...] = source.array[tuple(slice(at, at + size) for at, size in window)]

    return slice_inplace


def _only_tensor(operands: tuple[object, ...]) -> object:
    """TFRT's kernel has its chain before the tensor that it writes, ours may have it behind."""
    tensors = [operand for operand in operands if not isinstance(operand, Chain)]
    if len(tensors) != 1:
        raise KernelError(f"expected one tensor to write to, found {len(tensors)}")
    return tensors[0]


def _contains(shape: TensorShape, start: tuple[int, ...], part: TensorShape) -> bool:
    bounds = zip(start, part.sizes, shape.sizes, strict=True)
    return all(0 <= at and at + size <= limit for at, size, limit in bounds)


for _element_type in (F32, I32):
    for _rank in (2, 3):
        REGISTRY.kernel(
            f"tfrt_test.broadcast.{_element_type.word}.{_rank}",
            results=("object",),
            frame=True,
            shortcut=Shortcut(
                "tensor_kernels.broadcast", (ELEMENT_NUMBERS[_element_type.dtype], _rank)
            ),
        )(_broadcast(_element_type, _rank))
    REGISTRY.kernel(f"tfrt_test.slice_inplace.{_element_type.word}.3", results=("chain",))(
        _slice_inplace(_element_type, 3)
    )
