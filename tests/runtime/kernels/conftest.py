"""Call kernels by name, without an executor."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tfrt_runtime.host.allocator import LeakCheckAllocator, PooledAllocator
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.run_parts import ResourceContext
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.kernels.basic import strings, test_kernels
from tfrt_runtime.kernels.registry import KernelRegistry
from tfrt_runtime.kernels.tensor import (
    btf,
    cpu_convolution,
    cpu_elements,
    tensor_shapes,
    tensors,
)

MODULES = (
    btf,
    cpu_convolution,
    cpu_elements,
    strings,
    tensor_shapes,
    tensors,
    test_kernels,
)


class Host:
    """The parts of a HostContext that kernels use."""

    def __init__(self) -> None:
        self.allocator: Any = LeakCheckAllocator(PooledAllocator())
        self.printed = ""
        self.work_queue = SimpleNamespace(native=SimpleNamespace(choose=0))
        self._contexts: dict[type, object] = {}

    def print(self, text: str) -> None:
        self.printed += text

    def shared_context(self, kind: Callable[[object], object]) -> object:
        return self._contexts.setdefault(kind, kind(self))


class Request:
    """The parts of a Request that kernels use."""

    def __init__(self, host: Host) -> None:
        self.output = host.print
        self.data: dict[type, object] = {}


class Frame:
    """The parts of a KernelFrame that kernels use."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.request = Request(host)
        self.resources = ResourceContext()
        self.debug_info: str | None = None
        self.location_id = 0


class Kernels:
    """All kernels of this folder; calling one runs it on available values."""

    def __init__(self) -> None:
        self.registry = KernelRegistry("tested")
        for module in MODULES:
            self.registry.include(module.REGISTRY)
        self.host = Host()
        self.frame = Frame(self.host)

    def __call__(self, name: str, *operands: object, attributes: tuple[object, ...] = ()) -> Any:
        kernel = self.registry[name]
        arguments: list[object] = [self.frame] if kernel.frame else []
        arguments += operands
        if not _takes(kernel.function, len(arguments) + len(attributes)):
            assert arguments.pop() is CHAIN
        return kernel.function(*arguments, *attributes)

    @property
    def printed(self) -> str:
        return self.host.printed


def _takes(function: Callable[..., object], count: int) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(p.kind is p.VAR_POSITIONAL for p in parameters) or len(parameters) >= count


@pytest.fixture
def kernels() -> Kernels:
    return Kernels()


@pytest.fixture
def tensor() -> Callable[..., DenseHostTensor]:
    """A function: `tensor([[1, 2]], "float32")` returns a tensor."""

    def make(values: object, dtype: str = "float32") -> DenseHostTensor:
        return DenseHostTensor.over(np.array(values, dtype))

    return make
