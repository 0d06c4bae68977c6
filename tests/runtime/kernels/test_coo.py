"""`coo.*`: sparse tensors."""

from __future__ import annotations

import pytest

from tfrt_runtime.host.objects import CHAIN
from tfrt_runtime.kernels.registry import KernelError


def test_coordinates_of_an_oblong_tensor_are_row_and_column(kernels, tensor) -> None:
    """The reference divides by the wrong size here: [0, 1, 1, 1, 2, 0, 3, 1].  Ours is right."""
    dense = tensor([[0, 1, 0, 2], [3, 0, 0, 4]], "int32")
    sparse, _ = kernels("coo.convert_dht_to_coo.i32.2", dense, CHAIN)
    kernels("tfrt_dht.print_tensor", sparse, CHAIN)
    assert kernels.printed == (
        "CooHostTensor dtype = i32, shape = [2, 4], "
        "indices = [0, 1, 0, 3, 1, 0, 1, 3], values = [1, 2, 3, 4]\n\n"
    )


def test_a_tensor_of_zeros_has_no_coordinates(kernels, tensor) -> None:
    sparse, _ = kernels("coo.convert_dht_to_coo.f32.1", tensor([0.0, -0.0]), CHAIN)
    assert str(sparse) == "CooHostTensor dtype = f32, shape = [2], indices = [], values = []\n"


def test_a_sparse_tensor_of_another_type_or_rank_is_refused(kernels, tensor) -> None:
    sparse, _ = kernels("coo.convert_dht_to_coo.i32.1", tensor([1], "int32"), CHAIN)
    for name in ("i64.1", "i32.2"):
        with pytest.raises(KernelError, match=r"not of i32 and shape \[1\]"):
            kernels(f"coo.convert_coo_to_dht.{name}", sparse, CHAIN)
    with pytest.raises(KernelError, match=r"expected a tensor of rank 2, not of shape \[1\]"):
        kernels("coo.convert_dht_to_coo.i32.2", tensor([1], "int32"), CHAIN)


def test_a_conversion_without_memory_is_an_error(kernels, tensor) -> None:
    kernels.host.allocator = _Empty()
    with pytest.raises(KernelError, match="^Cannot allocate tensor$"):
        kernels("coo.convert_dht_to_coo.i32.1", tensor([1], "int32"), CHAIN)


class _Empty:
    def allocate_bytes(self, size: int, alignment: int) -> None:
        return None
