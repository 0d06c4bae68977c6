"""Values that print when they are made and when they die.

They show what the runtime does with references: a value is destroyed, on the thread that drops the
last reference, before that thread goes on.  No kernel runs on that thread then, so a value keeps
the output of the run that made it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfrt_runtime.kernels.arguments import expect
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import CHAIN, Chain, KernelError, KernelRegistry
from tfrt_runtime.scalars import wrapped

REGISTRY: Final = KernelRegistry("lifetimes")

Output = Callable[[str], None]


class TracedValue:
    """A number that prints its construction and destruction.

    In C++ a kernel constructs a local value, then moves it into the AsyncValue; the local one dies
    silently.  Here there is one object all the time, and it prints the same two lines.
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
    """A new value."""
    return TracedValue(number, frame.request.output)


@REGISTRY.kernel("vt.add", results=("object",), frame=True)
def vt_add(frame: KernelFrame, left: object, right: object) -> TracedValue:
    """A new value, the sum of two; it wraps in 32 bits."""
    total = expect(TracedValue, left).number + expect(TracedValue, right).number
    return TracedValue(wrapped(total, 32), frame.request.output)


@REGISTRY.kernel("vt.print", results=("chain",), frame=True)
def vt_print(frame: KernelFrame, value: object) -> None:
    """Print `print vt_value(N)`."""
    frame.host.print(f"print vt_value({expect(TracedValue, value).number})\n")


@REGISTRY.kernel("tfrt_test.share_to_two", results=("object", "object"))
def share_to_two(value: object) -> tuple[object, object]:
    """The same value twice: nothing is copied."""
    return value, value


class TestResource:
    """A resource that prints when it goes away: released by hand, or with its last reference."""

    __slots__ = ("_is_released", "_output")
    __test__ = False  # not a class of tests, whatever pytest thinks of its name

    def __init__(self, output: Output) -> None:
        self._output = output
        self._is_released = False
        output("Allocated TestResource\n")

    def release(self) -> bool:
        """Release the resource; False if it was released before."""
        if self._is_released:
            return False
        self._is_released = True
        self._output("Destroyed TestResource\n")
        return True

    def __del__(self) -> None:
        self.release()


@REGISTRY.kernel("tfrt_test.allocate_resource", results=("object", "chain"), frame=True)
def allocate_resource(frame: KernelFrame) -> tuple[TestResource, Chain]:
    """A new resource."""
    return TestResource(frame.request.output), CHAIN


@REGISTRY.kernel("tfrt_test.deallocate_resource", results=("chain",), frame=True)
def deallocate_resource(frame: KernelFrame, resource: object) -> None:
    """Release the resource now, although other values may still refer to it."""
    if not expect(TestResource, resource).release():
        raise KernelError("the resource was deallocated before")
    frame.host.print("tfrt_test.deallocate_resource done\n")


class SampleSharedContext:
    """One object per host, shared by all kernels that ask for it."""

    def __init__(self, host: object) -> None:
        """`host` is not used; every shared context is made with its host."""

    @property
    def name(self) -> str:
        """What the kernel returns: there is only ever the first one."""
        return "sample_shared_context0"


@REGISTRY.kernel("tfrt_test.use_sample_shared_context", results=("object", "chain"), frame=True)
def use_sample_shared_context(frame: KernelFrame) -> tuple[str, Chain]:
    """The name of the host's sample context, which the first call makes."""
    return frame.host.shared_context(SampleSharedContext).name, CHAIN


@REGISTRY.kernel("tfrt_test.memory_leak_one_int32", frame=True)
def memory_leak_one_int32(frame: KernelFrame) -> None:
    """Take four bytes from the host's allocator and never give them back."""
    frame.host.allocator.allocate_bytes(4, 4)
