"""Small kernels from TFRT's tests and from the examples of the seed documents."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, get_ident
from typing import Final

from tfrt_runtime.host.payload import CHAIN, Chain
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.sparse import CooHostTensor
from tfrt_runtime.host.values.async_value import make_available
from tfrt_runtime.kernels.frame import KernelFrame, expect
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry
from tfrt_runtime.kernels.tensor.tensors import StringHostTensor, host_tensor
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
    """Print `true` or `false`.  This kernel takes the chain first, unlike all other kernels."""
    frame.host.print("true\n" if value else "false\n")


@REGISTRY.kernel("tfrt_test.print_debug_info", results=("chain",), frame=True)
def print_debug_info(frame: KernelFrame) -> None:
    """Print the name of the kernel's location, if it has one; the name may be empty."""
    info = frame.debug_info
    frame.host.print(f"{'Kernel has no debug info' if info is None else info}\n")


@REGISTRY.kernel("tfrt_test.test_cost", attributes=("i64",), frame=True)
def test_cost(frame: KernelFrame, *operands_and_id: object) -> object:
    """Print `id: N`. The operands only order the call.

    Return 0, or a chain if the result type is a chain.
    """
    frame.host.print(f"id: {operands_and_id[-1]}\n")
    if frame.result_types == ("!tfrt.chain",):
        return CHAIN
    return make_available(frame.request.queue, 0, "i32")  # an i32, even if the file has no types


test_cost.__test__ = False  # type: ignore[attr-defined]


@REGISTRY.kernel("tfrt_test.logging", results=("chain",))
def log(message: object) -> None:
    """Print six lines to standard error: three by severity, then three under a true condition."""
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
    """Print an attribute, preceded by its type: `I64: 1`, `F32: 5.000000e-01`, `I1: 0`."""
    kind, value = expect(tuple, chain_and_value[-1])
    shown = f"{value:e}" if isinstance(value, float) else value
    text = f"{shown:d}" if isinstance(shown, int) else shown
    frame.host.print(f"{kind.upper()}: {text}\n")


@REGISTRY.kernel(
    "tfrt_test.flat", attributes=("aggregate",), results=("object", "i32", "i32", "f32")
)
def flat(value: tuple[object, ...]) -> tuple[object, object, object, object]:
    """Return the four leaves of `[["text", [i32, i32]], [f32]]`."""
    match value:
        case ((str(text), (int(first), int(second))), (float(number),)):
            return text, first, second, number
    raise KernelError('expected an attribute [["text", [i32, i32]], [f32]]')


def _add_sum(bits: int) -> None:
    @REGISTRY.kernel(
        f"tfrt_test.sum_array_attr.i{bits}", attributes=(f"array.i{bits}",), results=(f"i{bits}",)
    )
    def sum_array_attr(values: tuple[int, ...]) -> int:
        """Return the sum of the elements. The sum wraps around."""
        return wrapped(sum(values), bits)


_add_sum(32)
_add_sum(64)


# --- fixed answers ---


@REGISTRY.kernel("tfrt_test.async_value_get", results=("object",))
def async_value_get() -> str:
    """Return the result of TFRT's own check of typed access to AsyncValues."""
    return "base1:base2:final_class:3"


@REGISTRY.kernel("tfrt_test.async_value_ref", results=("object",))
def async_value_ref() -> str:
    """Return the result of TFRT's own check of references to AsyncValues."""
    return "available:2;unavailable;(3);available:3;unavailable;available:4"


@REGISTRY.kernel("tfrt.async.read.from.mars", results=("i32",), blocking=True)
def read_from_mars() -> int:
    """Return the number that a rover sends, after a delay that is short enough for a notebook."""
    time.sleep(MARS_DELAY_SECONDS)
    return 42


# --- devices, threads, and requests ---


@dataclass(frozen=True, slots=True)
class Device:
    """A device that runs kernels.  A host has exactly one device, the host itself."""

    name: str


@REGISTRY.kernel("tfrt.get_device", attributes=("string",), results=("object",))
def get_device(name: str) -> Device:
    """Return the device called `name`."""
    if name != HOST_DEVICE:
        raise KernelError(f"cannot find device {name}")
    return Device(name)


class ThreadNumbers:
    """Numbers threads in the order in which they first ask.

    Each host has one object of this class.
    """

    def __init__(self, host: object) -> None:
        """Start without threads.

        `host` is not used; every shared context is created with its host.
        """
        self._numbers: dict[int, int] = {}
        self._lock = Lock()

    def number_of(self, thread: int) -> int:
        """Return the number of a thread.

        Threads are numbered from 0, in the order of their first requests.
        """
        with self._lock:
            return self._numbers.setdefault(thread, len(self._numbers))


@REGISTRY.kernel("tfrt_test.get_thread_id", results=("i32",), frame=True)
def get_thread_id(frame: KernelFrame) -> int:
    """Return the number of the thread that is running this kernel."""
    return frame.host.shared_context(ThreadNumbers).number_of(get_ident())


@REGISTRY.kernel("tfrt_test.unique_loc", attributes=("string",), results=("chain",), frame=True)
def unique_loc(frame: KernelFrame, name: str) -> None:
    """Fail if a kernel with another name has the same location."""
    names = frame.resources.get_or_create("tfrt_test.unique_loc", dict, dict[int, str])
    if names.setdefault(frame.location_id, name) != name:
        raise KernelError(f"duplicate locations {frame.location_id}")


@REGISTRY.kernel("tfrt_test.get_request_context_data.i32", results=("i32",), frame=True)
def get_request_context_data(frame: KernelFrame) -> int:
    """Return the int that the caller of the program added to the request's data."""
    data = frame.request.data.get(int)
    if not isinstance(data, int):
        raise KernelError("the request has no data of type i32")
    return data


# --- values that print when they are created and destroyed ---

# These values show when the runtime drops references: a value is destroyed on the thread that drops
# the last reference, before that thread continues.  That thread may not be running a kernel, so
# each value keeps the output of the run that created it.

Output = Callable[[str], None]


class TracedValue:
    """A number that prints its construction and destruction.

    TFRT's kernel, in C++, constructs a local value and moves it into the AsyncValue.  The local
    value is then destroyed silently.  Here, only one object exists, and it prints the same two
    lines.
    """

    __slots__ = ("_output", "number")

    def __init__(self, number: int, output: Output) -> None:
        self.number = number
        self._output = output
        output(f"constructed vt.value({number})\n")
        output(f"move constructed vt.value({number})\n")

    def __del__(self) -> None:
        self._output(f"destroyed vt.value({self.number})\n")


@REGISTRY.kernel("vt.constant", attributes=("i32",), results=("object",), frame=True)
def vt_constant(frame: KernelFrame, number: int) -> TracedValue:
    """Make a new value."""
    return TracedValue(number, frame.request.output)


@REGISTRY.kernel("vt.add", results=("object",), frame=True)
def vt_add(frame: KernelFrame, left: object, right: object) -> TracedValue:
    """Make a new value that is the sum of two values, wrapped around in 32 bits."""
    total = expect(TracedValue, left).number + expect(TracedValue, right).number
    return TracedValue(wrapped(total, 32), frame.request.output)


@REGISTRY.kernel("vt.print", results=("chain",), frame=True)
def vt_print(frame: KernelFrame, value: object) -> None:
    """Print `print vt_value(N)`."""
    frame.host.print(f"print vt_value({expect(TracedValue, value).number})\n")


@REGISTRY.kernel("tfrt_test.share_to_two", results=("object", "object"))
def share_to_two(value: object) -> tuple[object, object]:
    """Return the same value twice, without a copy."""
    return value, value


class TestResource:
    """A resource that prints a line when it is released.

    The method `release` releases the resource, and so does dropping the last reference to it.
    """

    __slots__ = ("_is_released", "_output")
    __test__ = False  # pytest would otherwise collect it because of its name

    def __init__(self, output: Output) -> None:
        self._output = output
        self._is_released = False
        output("Allocated TestResource\n")

    def release(self) -> bool:
        """Release the resource; return False if it was released before."""
        if self._is_released:
            return False
        self._is_released = True
        self._output("Destroyed TestResource\n")
        return True

    def __del__(self) -> None:
        self.release()


@REGISTRY.kernel("tfrt_test.allocate_resource", results=("object", "chain"), frame=True)
def allocate_resource(frame: KernelFrame) -> tuple[TestResource, Chain]:
    """Make a new resource."""
    return TestResource(frame.request.output), CHAIN


@REGISTRY.kernel("tfrt_test.deallocate_resource", results=("chain",), frame=True)
def deallocate_resource(frame: KernelFrame, resource: object) -> None:
    """Release the resource now, even if other values still refer to it."""
    if not expect(TestResource, resource).release():
        raise KernelError("the resource was deallocated before")
    frame.host.print("tfrt_test.deallocate_resource done\n")


class SampleSharedContext:
    """An object that exists once per host, and that all kernels share."""

    name = "sample_shared_context0"
    """The kernel's result.  A host never creates a second object."""

    def __init__(self, host: object) -> None:
        """Do nothing; every shared context is created with its host."""


@REGISTRY.kernel("tfrt_test.use_sample_shared_context", results=("object", "chain"), frame=True)
def use_sample_shared_context(frame: KernelFrame) -> tuple[str, Chain]:
    """Return the name of the host's sample context, which the first call creates."""
    return frame.host.shared_context(SampleSharedContext).name, CHAIN


@REGISTRY.kernel("tfrt_test.memory_leak_one_int32", frame=True)
def memory_leak_one_int32(frame: KernelFrame) -> None:
    """Allocate four bytes with the host's allocator and never free them."""
    frame.host.allocator.allocate_bytes(4, 4)


# --- types of tensors ---

_TENSOR_TYPES: Final[dict[str, type]] = {
    "DenseHost": DenseHostTensor,
    "StringHost": StringHostTensor,
    "CooHost": CooHostTensor,
}


@REGISTRY.kernel("tfrt_test.get_static_tensor_type", attributes=("string",), results=("object",))
@REGISTRY.kernel("tfrt.get_static_tensor_type", attributes=("string",), results=("object",))
def get_static_tensor_type(name: str) -> type:
    """Return the kind of tensor whose name is `name`."""
    if name not in _TENSOR_TYPES:
        raise KernelError(f"cannot find tensor type {name}")
    return _TENSOR_TYPES[name]


@REGISTRY.kernel("tfrt_test.print_tensor_type", results=("chain",), frame=True)
def print_tensor_type(frame: KernelFrame, value: object) -> None:
    """Print the name of a kind of tensor; for a tensor, print its kind."""
    kind = value if isinstance(value, type) else type(host_tensor(value))
    for name, known in _TENSOR_TYPES.items():
        if known is kind:
            frame.host.print(f"{name}\n")
            return
    raise KernelError("expected a tensor or a tensor type")


# --- the seed's tutorial ---


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A point with integer coordinates."""

    x: int
    y: int


@REGISTRY.kernel("tfrt_tutorial.create_coordinate", results=("object",))
def create_coordinate(x: object, y: object) -> Coordinate:
    """Return the point at `x`, `y`."""
    return Coordinate(expect(int, x), expect(int, y))


@REGISTRY.kernel("tfrt_tutorial.print_coordinate", results=("chain",), frame=True)
def print_coordinate(frame: KernelFrame, value: object) -> None:
    """Print `(2, 4)`."""
    point = expect(Coordinate, value)
    frame.host.print(f"({point.x}, {point.y})\n")
