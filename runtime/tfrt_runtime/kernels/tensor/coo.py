"""Sparse tensors as coordinates and values: `coo.*`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import ElementType
from tfrt_runtime.host.tensor.sparse import CooHostTensor
from tfrt_runtime.kernels.frame import KernelFrame, expect
from tfrt_runtime.kernels.registry import CHAIN, Chain, KernelError, KernelRegistry
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


def _to_coo(element_type: ElementType, rank: int) -> Callable[..., tuple[CooHostTensor, Chain]]:
    def convert_dht_to_coo(frame: KernelFrame, tensor: object) -> tuple[CooHostTensor, Chain]:
        dense = dense_tensor(tensor, element_type, rank)
        return allocated(CooHostTensor.from_dense(frame.host.allocator, dense)), CHAIN

    return convert_dht_to_coo


def _to_dense(element_type: ElementType, rank: int) -> Callable[..., tuple[DenseHostTensor, Chain]]:
    def convert_coo_to_dht(frame: KernelFrame, tensor: object) -> tuple[DenseHostTensor, Chain]:
        sparse = sparse_tensor(tensor, element_type, rank)
        return allocated(sparse.to_dense(frame.host.allocator)), CHAIN

    return convert_coo_to_dht


def _equal(element_type: ElementType, rank: int) -> Callable[..., tuple[bool, Chain]]:
    def tensor_equal(left: object, right: object) -> tuple[bool, Chain]:
        a = sparse_tensor(left, element_type, rank)
        b = sparse_tensor(right, element_type, rank)
        same = a.shape == b.shape and are_equal(a.indices, b.indices)
        return same and are_equal(a.values, b.values), CHAIN

    return tensor_equal


for _element_type in ARITHMETIC_TYPES:
    for _rank in range(MAXIMUM_RANK + 1):
        _suffix = f"{_element_type.word}.{_rank}"
        REGISTRY.kernel(
            f"coo.convert_dht_to_coo.{_suffix}", results=("object", "chain"), frame=True
        )(_to_coo(_element_type, _rank))
        REGISTRY.kernel(
            f"coo.convert_coo_to_dht.{_suffix}", results=("object", "chain"), frame=True
        )(_to_dense(_element_type, _rank))
        REGISTRY.kernel(f"coo.tensor_equal.{_suffix}", results=("i1", "chain"))(
            _equal(_element_type, _rank)
        )
