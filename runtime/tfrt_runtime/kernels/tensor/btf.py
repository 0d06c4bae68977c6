"""BTF, a file format for tensors, and the kernels that read it: `btf.*`.

All integers are little-endian.  A file starts with `u64 count` and, for each record, its `u64
offset` from the start of the file.  A record, 8-aligned, is `u64 rank`, `u8 element type`, `u8
layout`, 6 zero bytes, and `u64 size` of each dimension.  The rest depends on the layout:

* 0, dense: the elements, row by row;
* 2, sparse: `u64 count` of the elements, the coordinates of each element as `u64`, then the
  elements.

`STORED_TYPES` maps the codes of element types.  A file is read piece by piece, and each size is
checked against the file's size before memory is allocated.  The kernels may wait for a disk, so
they run in the blocking pool.  No kernel writes a file.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from io import BufferedReader
from typing import Any, Final

import numpy as np

from tfrt_runtime.bef.records import DType
from tfrt_runtime.host.allocator import HostAllocator
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.shapes import (
    ELEMENT_TYPES,
    I64,
    MAXIMUM_COUNT,
    ElementType,
    TensorShape,
)
from tfrt_runtime.host.tensor.sparse import CooHostTensor
from tfrt_runtime.kernels.frame import KernelFrame, expect
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry
from tfrt_runtime.kernels.tensor.arguments import allocated
from tfrt_runtime.kernels.tensor.tensors import MAXIMUM_RANK

REGISTRY: Final = KernelRegistry("btf")

# The maximum number of dimensions that numpy supports.
_NUMPY_RANK: Final = 64

RECORD_HEADER = struct.Struct("<QBB6x")


Tensor = DenseHostTensor | CooHostTensor


class MalformedBtf(ValueError):
    """The file is not BTF, or ends too early.  The message names the problem and the byte."""


class Layout(IntEnum):
    """How a record stores its elements."""

    DENSE = 0
    SPARSE = 2


STORED_TYPES: Final = {
    number: ELEMENT_TYPES[dtype]
    for number, dtype in enumerate(
        [
            DType.I8,
            DType.I16,
            DType.I32,
            DType.I64,
            DType.F32,
            DType.F64,
            DType.UI8,
            DType.UI16,
            DType.UI32,
            DType.UI64,
        ]
    )
}


@dataclass(frozen=True, slots=True)
class Record:
    """The header of a tensor.  The elements, or their count, start at `data_offset`."""

    element_type: ElementType
    layout: Layout
    shape: TensorShape
    data_offset: int


@contextmanager
def open_btf(path: str) -> Iterator[BtfFile]:
    """Open the file at `path`.

    Raises:
        OSError: if the file cannot be read.
        MalformedBtf: if the file is not a regular file, because such a file may never end.
    """
    # Open without blocking: opening a named pipe would wait for a writer.
    with open(path, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise MalformedBtf("not an ordinary file")
        yield BtfFile(file, status.st_size)


class BtfFile:
    """A BTF file of `size` bytes.  The methods raise MalformedBtf if the bytes are invalid."""

    def __init__(self, file: BufferedReader, size: int) -> None:
        self._file = file
        self._size = size

    def record(self, index: int) -> Record:
        """Return the header of tensor `index`."""
        count = self._number(0, "the number of tensors")
        if not 0 <= index < count:
            raise MalformedBtf(f"no tensor {index}: there are {count}")
        offset = self._number(8 + 8 * index, f"the offset of tensor {index}")
        rank, dtype, layout = RECORD_HEADER.unpack(
            self._read(offset, RECORD_HEADER.size, "a tensor's header")
        )
        if rank > _NUMPY_RANK:
            raise MalformedBtf(f"at byte {offset}: a tensor of rank {rank}")
        if dtype not in STORED_TYPES:
            raise MalformedBtf(f"at byte {offset + 8}: unknown element type {dtype}")
        if layout not in tuple(Layout):
            raise MalformedBtf(f"at byte {offset + 9}: unknown layout {layout}")
        sizes_offset = offset + RECORD_HEADER.size
        sizes = struct.unpack(f"<{rank}Q", self._read(sizes_offset, 8 * rank, "sizes"))
        return Record(
            STORED_TYPES[dtype],
            Layout(layout),
            _shape(sizes, sizes_offset),
            sizes_offset + 8 * rank,
        )

    def tensor(self, record: Record, allocator: HostAllocator) -> Tensor:
        """Return the tensor of a record.

        Raises:
            KernelError: if the allocator is out of memory.
        """
        offset = record.data_offset
        if record.layout is Layout.DENSE:
            return self._elements(offset, record.element_type, record.shape, allocator)
        count = self._number(offset, "the number of elements")
        indices_shape = _shape((count, record.shape.rank), offset)
        indices = self._elements(offset + 8, I64, indices_shape, allocator)
        values_offset = offset + 8 + 8 * indices_shape.element_count
        values = self._elements(
            values_offset, record.element_type, _shape((count,), offset), allocator
        )
        try:
            return CooHostTensor(record.shape, indices, values)
        except ValueError as error:
            raise MalformedBtf(f"at byte {offset}: {error}") from None

    def _elements(
        self, offset: int, element_type: ElementType, shape: TensorShape, allocator: HostAllocator
    ) -> DenseHostTensor:
        self._check(offset, shape.element_count * element_type.size, "elements")
        tensor = allocated(DenseHostTensor.create(allocator, element_type, shape))
        self._file.seek(offset)
        # `Any`, because numpy's stub declares the buffer protocol only for Python 3.12 and later.
        target: Any = tensor.array.reshape(-1).view(np.uint8)
        if self._file.readinto(target) < tensor.array.nbytes:
            raise MalformedBtf(f"at byte {offset}: the file shrank while it was being read")
        return tensor

    def _number(self, offset: int, what: str) -> int:
        return int.from_bytes(self._read(offset, 8, what), "little")

    def _read(self, offset: int, size: int, what: str) -> bytes:
        self._check(offset, size, what)
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) < size:
            raise MalformedBtf(f"at byte {offset}: the file shrank while it was being read")
        return data

    def _check(self, offset: int, size: int, what: str) -> None:
        if offset + size > self._size:
            left = max(self._size - offset, 0)
            raise MalformedBtf(f"at byte {offset}: expected {size} bytes of {what}, found {left}")


def _shape(sizes: tuple[int, ...], offset: int) -> TensorShape:
    try:
        shape = TensorShape(sizes)
    except ValueError as error:
        raise MalformedBtf(f"at byte {offset}: {error}") from None
    if shape.element_count > MAXIMUM_COUNT:
        raise MalformedBtf(f"at byte {offset}: too many elements in shape {shape}")
    return shape


# --- kernels ---

READABLE: Final = (DType.F32, DType.I32, DType.I64, DType.I8, DType.UI8)
"""The element types that kernels can read."""


def _described(layout: Layout, element_type: ElementType, rank: int) -> str:
    return f"a {layout.name.lower()} tensor of {element_type} and rank {rank}"


def _reader(layout: Layout, element_type: ElementType, rank: int) -> Callable[..., Tensor]:
    expected = _described(layout, element_type, rank)

    def read(frame: KernelFrame, path: object, index: int) -> Tensor:
        try:
            with open_btf(expect(str, path)) as file:
                record = file.record(index)
                found = _described(record.layout, record.element_type, record.shape.rank)
                if found != expected:
                    raise MalformedBtf(f"expected {expected}, found {found}")
                return file.tensor(record, frame.host.allocator)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            raise KernelError(f"cannot read a tensor from {path}: {reason}") from None

    return read


for _layout, _name in ((Layout.DENSE, "dense"), (Layout.SPARSE, "coo")):
    for _dtype in READABLE:
        for _rank in range(MAXIMUM_RANK + 1):
            REGISTRY.kernel(
                f"btf.read_{_name}_tensor.{_dtype.name.lower()}.{_rank}",
                results=("object",),
                blocking=True,
                frame=True,
            )(_reader(_layout, ELEMENT_TYPES[_dtype], _rank))
