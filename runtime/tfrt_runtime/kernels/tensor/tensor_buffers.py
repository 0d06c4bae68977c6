"""The memory under dense tensors, as values of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfrt_runtime.host.tensor.buffers import HostBuffer
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import ELEMENT_TYPES, ElementType
from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.kernels.arguments import dense_tensor, expect
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import CHAIN, Chain, KernelError, KernelRegistry

REGISTRY: Final = KernelRegistry("tensor buffers")


@REGISTRY.kernel("tfrt_dht.allocate_buffer", results=("object",), frame=True)
def allocate_buffer(frame: KernelFrame, size: int, alignment: int) -> HostBuffer:
    """New memory of unknown content from the host's allocator."""
    try:
        buffer = HostBuffer.allocate(frame.host.allocator, size, alignment)
    except ValueError as error:
        raise KernelError(str(error)) from None
    if buffer is None:
        raise KernelError(f"Cannot allocate a buffer of {size} bytes")
    return buffer


@REGISTRY.kernel("tfrt_dht.get_buffer", results=("object", "chain"))
def get_buffer(tensor: object) -> tuple[HostBuffer, Chain]:
    """The memory of a tensor, shared with it."""
    return dense_tensor(tensor).buffer, CHAIN


@REGISTRY.kernel("tfrt_dht.get_buffer_slice", results=("object",))
def get_buffer_slice(buffer: object, offset: int, size: int) -> HostBuffer:
    """Some bytes of a buffer, shared with it."""
    try:
        return expect(HostBuffer, buffer).slice(offset, size)
    except ValueError as error:
        raise KernelError(str(error)) from None


@REGISTRY.kernel("tfrt_dht.print_buffer", results=("chain",), frame=True)
def print_buffer(frame: KernelFrame, buffer: object) -> None:
    """Print where a buffer is and how large."""
    frame.host.print(f"{expect(HostBuffer, buffer)}\n")


def _make_tensor(element_type: ElementType) -> Callable[..., tuple[DenseHostTensor, Chain]]:
    def make_tensor(buffer: object, shape: object) -> tuple[DenseHostTensor, Chain]:
        memory, sizes = expect(HostBuffer, buffer), expect(TensorShape, shape)
        try:
            return DenseHostTensor(element_type, sizes, memory), CHAIN
        except ValueError as error:
            raise KernelError(f"dht.make_tensor failed: {error}") from None

    return make_tensor


for _element_type in ELEMENT_TYPES.values():
    REGISTRY.kernel(f"tfrt_dht.make_tensor.{_element_type.word}", results=("object", "chain"))(
        _make_tensor(_element_type)
    )
