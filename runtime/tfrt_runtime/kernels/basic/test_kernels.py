"""Small kernels that the reference's tests and the seed's examples are made of."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from threading import Lock, get_ident
from typing import Final

from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.sparse import CooHostTensor
from tfrt_runtime.host.tensor.strings import StringHostTensor
from tfrt_runtime.host.values.async_value import make_available
from tfrt_runtime.kernels.arguments import expect
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import CHAIN, KernelError, KernelRegistry
from tfrt_runtime.kernels.tensor.tensors import host_tensor
from tfrt_runtime.scalars import wrapped

REGISTRY: Final = KernelRegistry("test kernels")

HOST_DEVICE: Final = "CPU:0"
MARS_DELAY_SECONDS: Final = 0.1


# --- prints ---


@REGISTRY.kernel("tfrt_test.print_hello", results=("chain",), frame=True)
def print_hello(frame: KernelFrame) -> None:
    """Print a greeting."""
    frame.host.print("hello host executor!\n")


@REGISTRY.kernel("tfrt_test.print_bool", results=("chain",), frame=True)
def print_bool(frame: KernelFrame, chain: object, value: bool) -> None:
    """Print `true` or `false`.  The chain comes first, as nowhere else."""
    frame.host.print("true\n" if value else "false\n")


@REGISTRY.kernel("tfrt_test.print_debug_info", results=("chain",), frame=True)
def print_debug_info(frame: KernelFrame) -> None:
    """Print the name that the kernel's location has, if it has one; it may be empty."""
    info = frame.debug_info
    frame.host.print(f"{'Kernel has no debug info' if info is None else info}\n")


@REGISTRY.kernel("tfrt_test.test_cost", attributes=("i64",), frame=True)
def test_cost(frame: KernelFrame, *operands_and_id: object) -> object:
    """Print `id: N`; the operands only order it.  The result is 0, or a chain where one is asked for."""
    frame.host.print(f"id: {operands_and_id[-1]}\n")
    if frame.result_types == ("!tfrt.chain",):
        return CHAIN
    return make_available(frame.request.queue, 0, "i32")  # also where the file has no types


test_cost.__test__ = False  # type: ignore[attr-defined]


@REGISTRY.kernel("tfrt_test.logging", results=("chain",))
def log(message: object) -> None:
    """Six lines on standard error: each severity, then each under a condition that holds."""
    text = expect(str, message)
    severities = ("INFO", "WARNING", "ERROR")
    lines = [f"from TFRT_LOG({severity}): {text}\n" for severity in severities]
    lines += [f"from TFRT_LOG_IF({severity}, true): {text}\n" for severity in severities]
    sys.stderr.write("".join(lines))


# --- attributes ---


@REGISTRY.kernel(
    "tfrt_test.print_typed_attr", attributes=("typed",), results=("chain",), frame=True
)
def print_typed_attr(frame: KernelFrame, *chain_and_value: object) -> None:
    """Print an attribute behind its type: `I64: 1`, `F32: 5.000000e-01`, `I1: 0`."""
    kind, value = expect(tuple, chain_and_value[-1])
    shown = f"{value:e}" if isinstance(value, float) else value
    text = f"{shown:d}" if isinstance(shown, int) else shown
    frame.host.print(f"{kind.upper()}: {text}\n")


@REGISTRY.kernel(
    "tfrt_test.flat", attributes=("aggregate",), results=("object", "i32", "i32", "f32")
)
def flat(value: tuple[object, ...]) -> tuple[object, object, object, object]:
    """The four leaves of `[["text", [i32, i32]], [f32]]`."""
    match value:
        case ((str(text), (int(first), int(second))), (float(number),)):
            return text, first, second, number
    raise KernelError('expected an attribute [["text", [i32, i32]], [f32]]')


@REGISTRY.kernel("tfrt_test.sum_array_attr.i32", attributes=("array.i32",), results=("i32",))
def sum_array_attr_i32(values: tuple[int, ...]) -> int:
    """The sum of the elements; it wraps."""
    return wrapped(sum(values), 32)


@REGISTRY.kernel("tfrt_test.sum_array_attr.i64", attributes=("array.i64",), results=("i64",))
def sum_array_attr_i64(values: tuple[int, ...]) -> int:
    """The sum of the elements; it wraps."""
    return wrapped(sum(values), 64)


# --- fixed answers ---


@REGISTRY.kernel("tfrt_test.async_value_get", results=("object",))
def async_value_get() -> str:
    """What the reference's own check of typed access prints."""
    return "base1:base2:final_class:3"


@REGISTRY.kernel("tfrt_test.async_value_ref", results=("object",))
def async_value_ref() -> str:
    """What the reference's own check of references prints."""
    return "available:2;unavailable;(3);available:3;unavailable;available:4"


@REGISTRY.kernel("tfrt.async.read.from.mars", results=("i32",), blocking=True)
def read_from_mars() -> int:
    """What a rover says, after as long a wait as a program in a notebook should take."""
    time.sleep(MARS_DELAY_SECONDS)
    return 42


# --- where, and on whose behalf ---


@dataclass(frozen=True, slots=True)
class Device:
    """Something that runs kernels.  A host has one, itself."""

    name: str


@REGISTRY.kernel("tfrt.get_device", attributes=("string",), results=("object",))
def get_device(name: str) -> Device:
    """The device called `name`."""
    if name != HOST_DEVICE:
        raise KernelError(f"cannot find device {name}")
    return Device(name)


class ThreadNumbers:
    """Numbers for threads, in the order of their first question.  One per host."""

    def __init__(self, host: object) -> None:
        """`host` is not used; every shared context is made with its host."""
        self._numbers: dict[int, int] = {}
        self._lock = Lock()

    def number_of(self, thread: int) -> int:
        """0 for the first thread that asked, 1 for the next."""
        with self._lock:
            return self._numbers.setdefault(thread, len(self._numbers))


@REGISTRY.kernel("tfrt_test.get_thread_id", results=("i32",), frame=True)
def get_thread_id(frame: KernelFrame) -> int:
    """The number of the thread that runs this kernel."""
    return frame.host.shared_context(ThreadNumbers).number_of(get_ident())


class LocationNames:
    """Which name was given to the kernel at each location.  One per run."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def is_new_or_same(self, location: int, name: str) -> bool:
        """Whether no other name was given at that location before."""
        return self._names.setdefault(location, name) == name


@REGISTRY.kernel("tfrt_test.unique_loc", attributes=("string",), results=("chain",), frame=True)
def unique_loc(frame: KernelFrame, name: str) -> None:
    """Fail if a kernel of another name has the same location."""
    names = frame.resources.get_or_create("tfrt_test.unique_loc", LocationNames, LocationNames)
    if not names.is_new_or_same(frame.location_id, name):
        raise KernelError(f"duplicate locations {frame.location_id}")


@REGISTRY.kernel("tfrt_test.get_request_context_data.i32", results=("i32",), frame=True)
def get_request_context_data(frame: KernelFrame) -> int:
    """The int that the caller of the program put into the request's data."""
    data = frame.request.data.get(int)
    if not isinstance(data, int):
        raise KernelError("the request has no data of type i32")
    return data


# --- types of tensors ---

_TENSOR_TYPES: Final[dict[str, type]] = {
    "DenseHost": DenseHostTensor,
    "StringHost": StringHostTensor,
    "CooHost": CooHostTensor,
}


@REGISTRY.kernel("tfrt_test.get_static_tensor_type", attributes=("string",), results=("object",))
@REGISTRY.kernel("tfrt.get_static_tensor_type", attributes=("string",), results=("object",))
def get_static_tensor_type(name: str) -> type:
    """The kind of tensor called `name`."""
    if name not in _TENSOR_TYPES:
        raise KernelError(f"cannot find tensor type {name}")
    return _TENSOR_TYPES[name]


@REGISTRY.kernel("tfrt_test.print_tensor_type", results=("chain",), frame=True)
def print_tensor_type(frame: KernelFrame, value: object) -> None:
    """Print the name of a kind of tensor, or of the kind that a tensor is."""
    kind = value if isinstance(value, type) else type(host_tensor(value))
    for name, known in _TENSOR_TYPES.items():
        if known is kind:
            frame.host.print(f"{name}\n")
            return
    raise KernelError("expected a tensor or a kind of tensor")


# --- the seed's tutorial ---


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A point with whole numbers."""

    x: int
    y: int


@REGISTRY.kernel("tfrt_tutorial.create_coordinate", results=("object",))
def create_coordinate(x: object, y: object) -> Coordinate:
    """The point at `x`, `y`."""
    return Coordinate(expect(int, x), expect(int, y))


@REGISTRY.kernel("tfrt_tutorial.print_coordinate", results=("chain",), frame=True)
def print_coordinate(frame: KernelFrame, value: object) -> None:
    """Print `(2, 4)`."""
    point = expect(Coordinate, value)
    frame.host.print(f"({point.x}, {point.y})\n")
