"""Sparse tensors as coordinates and values: `coo.*`."""

from __future__ import annotations

from typing import Final

from tfrt_runtime.host.objects import CHAIN, Chain
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import ElementType
from tfrt_runtime.host.tensor.sparse import CooHostTensor
from tfrt_runtime.kernels.frame import KernelFrame, expect
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry
from tfrt_runtime.kernels.tensor.arguments import allocated, dense_tensor
from tfrt_runtime.kernels.tensor.tensors import ARITHMETIC_TYPES, MAXIMUM_RANK, are_equal

REGISTRY: Final = KernelRegistry("coo")


def sparse_tensor(value: object, element_type: ElementType, rank: int) -> CooHostTensor:
    """`value`, which is a sparse tensor of that type and rank.

    Raises:
        KernelError: if it is not.
    """
    tensor = expect(CooHostTensor, value)
    if tensor.element_type is not element_type or tensor.shape.rank != rank:
        raise KernelError(
            f"expected a sparse tensor of {element_type} and rank {rank}, "
            f"not of {tensor.element_type} and shape {tensor.shape}"
        )
    return tensor


def _add(element_type: ElementType, rank: int) -> None:
    suffix = f"{element_type.word}.{rank}"

    @REGISTRY.kernel(f"coo.convert_dht_to_coo.{suffix}", results=("object", "chain"), frame=True)
    def convert_dht_to_coo(frame: KernelFrame, tensor: object) -> tuple[CooHostTensor, Chain]:
        dense = dense_tensor(tensor, element_type, rank)
        return allocated(CooHostTensor.from_dense(frame.host.allocator, dense)), CHAIN

    @REGISTRY.kernel(f"coo.convert_coo_to_dht.{suffix}", results=("object", "chain"), frame=True)
    def convert_coo_to_dht(frame: KernelFrame, tensor: object) -> tuple[DenseHostTensor, Chain]:
        sparse = sparse_tensor(tensor, element_type, rank)
        return allocated(sparse.to_dense(frame.host.allocator)), CHAIN

    @REGISTRY.kernel(f"coo.tensor_equal.{suffix}", results=("i1", "chain"))
    def tensor_equal(left: object, right: object) -> tuple[bool, Chain]:
        a, b = (sparse_tensor(value, element_type, rank) for value in (left, right))
        same = a.shape == b.shape and are_equal(a.indices, b.indices)
        return same and are_equal(a.values, b.values), CHAIN


for _element_type in ARITHMETIC_TYPES:
    for _rank in range(MAXIMUM_RANK + 1):
        _add(_element_type, _rank)
