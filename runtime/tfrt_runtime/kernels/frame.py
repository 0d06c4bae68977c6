"""A Python kernel's view of its call, and checks of its arguments.

A BEF file may pass any value to any kernel.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, counted, error
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.run_parts import ResourceContext
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.calls import Calls
from tfrt_runtime.kernels.registry import KernelError

Expected = TypeVar("Expected")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program that a kernel can call within a run."""

    request: Request
    address: int
    name: str
    """The function's symbol, or "" for a region."""
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]

    def execute(self, arguments: Sequence[AsyncValue]) -> list[AsyncValue]:
        """Start a call within the run; return the call's results, which may be unavailable.

        The first kernels of the function become ready on this thread.

        Raises:
            KernelError: if the function takes a different number of arguments.
        """
        request, given = self.request, len(arguments)
        if given != len(self.argument_types):
            takes = counted(len(self.argument_types), "argument")
            raise KernelError(f"'{self.name}' takes {takes}, found {given}")
        request.enter_call()
        queue, types = request.queue, self.result_types
        words = array("q", [value.address for value in arguments] + [0] * (len(types) + 1))
        start = native_process().slow.start_call
        start(queue.context(), self.address, request.address, words.buffer_info()[0], 0)
        # `start_call` has stored each result with a reference, which the object takes over.
        return [AsyncValue(queue, words[given + i], text) for i, text in enumerate(types)]


@dataclass(slots=True)
class KernelFrame:
    """One call of a kernel.

    The frame is valid until the kernel returns, on the thread that runs the kernel.
    """

    host: HostContext
    request: Request
    name: str
    location: AnyLocation
    calls: Calls
    """The calls that led to this one, for the notes of an error."""
    location_id: int
    debug_info: str | None
    result_types: tuple[str, ...]
    attributes: tuple[object, ...] = ()
    is_read_here: bool = True
    """Whether the results of a remote kernel are read in this process, by Python or by a kernel."""
    functions: tuple[Function, ...] = ()
    arguments: Sequence[AsyncValue] = ()
    """The arguments as AsyncValues, for kernels that are registered with `raw=True`."""
    allocated: dict[int, AsyncValue] = field(default_factory=dict)
    """The latest value that `allocate` returned for each index.

    These references do not keep promises alive.
    """

    @property
    def resources(self) -> ResourceContext:
        """The resources of the run."""
        return self.request.resources

    def allocate(self, index: int = 0) -> AsyncValue:
        """Return an unavailable value for result `index`, which must be resolved later.

        The run stays open until the value is resolved, so keep a reference until then.  If the
        value is dropped unresolved, the result becomes an error that says so.  If the run is
        cancelled before the value is resolved, the value becomes an error.  If the kernel raises an
        exception, unresolved results become that error, and resolved results keep their values.

        Raises:
            KernelError: if the kernel has no result with that index.
        """
        if not (isinstance(index, int) and 0 <= index < len(self.result_types)):
            has = counted(len(self.result_types), "result")
            raise KernelError(f"'{self.name}' has {has}, found no result {index!r}")
        made = self.request.allocate(self.result_types[index], self._broken)
        self.allocated[index] = made.for_waiter()
        return made

    def enqueue(self, function: Callable[[], object], *, blocking: bool = False) -> AsyncValue:
        """Call `function` on another thread, and return a value that becomes its result.

        The thread is a worker or, with `blocking`, a thread of the blocking pool.

        The call belongs to the run, which does not finish before the call does.  If the run is
        cancelled before the call starts, the function is not called.  If the function raises an
        exception, the value becomes an error.
        """
        started: AsyncValue = HOOKS.enqueue(self.request, function, blocking=blocking)
        return started

    @property
    def is_cancelled(self) -> bool:
        """Whether the run is cancelled.

        If it is, the kernel's results are already resolved, whatever the kernel returns.
        """
        return self.request.is_cancelled

    def _broken(self) -> Diagnostic:
        diagnostic = error(f"kernel '{self.name}' dropped its result unresolved", self.location)
        self.request.report(diagnostic)
        return diagnostic


def start_results(frame: KernelFrame, waits: str = "") -> tuple[AsyncValue, ...]:
    """Return an unavailable value for each of the kernel's results.  A task resolves them later.

    If the run counts the task, `waits` is the event for which the values wait.  Unlike
    `KernelFrame.allocate`, this function does not record the values in the frame, because the
    user's function may raise an exception later.
    """
    allocate, broken = frame.request.allocate, frame._broken
    name, place = frame.name, frame.location
    return tuple(
        [
            allocate(type_text, broken, (name, index, waits, place) if waits else None)
            for index, type_text in enumerate(frame.result_types)
        ]
    )


def expect(kind: type[Expected], value: object) -> Expected:
    """Return `value`, which must be an instance of `kind`.

    Raises:
        KernelError: if `value` is not an instance of `kind`.
    """
    if not isinstance(value, kind):
        raise KernelError(f"expected a {kind.__name__}, found {type(value).__name__}")
    return value
