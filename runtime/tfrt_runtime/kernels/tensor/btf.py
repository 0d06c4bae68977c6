"""Tensors from BTF files: `btf.*`.  They wait for a disk, so they run in the blocking pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfrt_runtime.bef.encoding import DType
from tfrt_runtime.host.tensor.btf import BtfFile, Layout, MalformedBtf, Record, open_btf
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import ELEMENT_TYPES, ElementType
from tfrt_runtime.host.tensor.sparse import CooHostTensor
from tfrt_runtime.kernels.arguments import allocated, expect
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry
from tfrt_runtime.kernels.tensor.tensors import MAXIMUM_RANK

REGISTRY: Final = KernelRegistry("btf")

_READABLE: Final = (DType.F32, DType.I32, DType.I64, DType.I8, DType.UI8)

Tensor = DenseHostTensor | CooHostTensor


def read_tensor(
    frame: KernelFrame,
    path: object,
    index: int,
    layout: Layout,
    element_type: ElementType,
    rank: int,
) -> Tensor:
    """Tensor `index` of the file at `path`.

    Raises:
        KernelError: if it cannot be read or is not what the kernel's name says.
    """
    try:
        with open_btf(expect(str, path)) as file:
            record = file.record(index)
            _require(record, layout, element_type, rank)
            return _read(file, record, frame)
    except (OSError, ValueError) as error:
        raise KernelError(f"cannot read a tensor from {path}: {_reason(error)}") from None


def _read(file: BtfFile, record: Record, frame: KernelFrame) -> Tensor:
    if record.layout is Layout.DENSE:
        return allocated(file.dense_tensor(record, frame.host.allocator))
    return allocated(file.sparse_tensor(record, frame.host.allocator))


def _require(record: Record, layout: Layout, element_type: ElementType, rank: int) -> None:
    expected = f"{layout.name.lower()} tensor of {element_type} and rank {rank}"
    found = (
        f"{record.layout.name.lower()} tensor of {record.element_type} and rank {record.shape.rank}"
    )
    if found != expected:
        raise MalformedBtf(f"expected a {expected}, found a {found}")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _reader(layout: Layout, element_type: ElementType, rank: int) -> Callable[..., Tensor]:
    def read(frame: KernelFrame, path: object, index: int) -> Tensor:
        return read_tensor(frame, path, index, layout, element_type, rank)

    return read


for _layout, _name in ((Layout.DENSE, "dense"), (Layout.SPARSE, "coo")):
    for _dtype in _READABLE:
        for _rank in range(MAXIMUM_RANK + 1):
            REGISTRY.kernel(
                f"btf.read_{_name}_tensor.{_dtype.name.lower()}.{_rank}",
                results=("object",),
                blocking=True,
                frame=True,
            )(_reader(_layout, ELEMENT_TYPES[_dtype], _rank))
