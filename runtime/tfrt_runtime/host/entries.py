"""The entries of the native core that Python calls: their names and their words.

Each word is an integer of 64 bits; addresses are of structs in `native.layouts`.  What an entry
does, which references it takes and on which threads it may run is said by the function of the same
name in the core.  A test compares both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

MODULES: dict[str, str] = {}
"""Which module of the core has an entry, by the entry's name."""

Declared = TypeVar("Declared", bound=type)


def _of(module: str) -> Callable[[Declared], Declared]:
    """Note which module of the core has the entries that a class declares."""

    def note(declared: Declared) -> Declared:
        MODULES.update({name: module for name in vars(declared) if not name.startswith("_")})
        return declared

    return note


@_of("cells")
class _QuickCells(Protocol):
    def fill_stock(self, process: int) -> None: ...
    def give_back(self, process: int, size: int) -> None: ...
    def memory_limit(self, context: int) -> int: ...
    def reserve_within(self, process: int, limit: int, size: int) -> int: ...


@_of("trimming")
class _QuickTrimming(Protocol):
    def trim(self, process: int, kept: int) -> int: ...
    def trim_at_rest(self, context: int) -> None: ...


@_of("events")
class _QuickEvents(Protocol):
    def log_clock(self, context: int) -> int: ...
    def log_drain(self, ring: int, target: int, room: int) -> int: ...
    def take_kept(self, place: int) -> int: ...


@_of("deques")
class _QuickDeques(Protocol):
    def take_tasks(self, queue: int) -> int: ...


@_of("blocking_pool")
class _QuickBlockingPool(Protocol):
    def pool_pop(self, pool: int) -> int: ...


@_of("waiters")
class _QuickWaiters(Protocol):
    def drop_latch(self, context: int, latch: int) -> None: ...


@_of("starting")
class _QuickStarting(Protocol):
    def begin_started(self, queue: int) -> None: ...


@_of("tensors")
class _QuickTensors(Protocol):
    def add_tensor_reference(self, tensor: int) -> None: ...
    def drop_tensor(self, context: int, tensor: int) -> None: ...
    def reclaim_all(self, process: int, unused: int) -> int: ...
    def tensor_over(
        self,
        context: int,
        memory_store: int,
        element: int,
        rank: int,
        count: int,
        data: int,
        owner: int,
    ) -> int: ...
    def trim_store(self, memory_store: int) -> int: ...


@_of("handles")
class _QuickHandles(Protocol):
    def context_free(self, context: int) -> None: ...
    def context_make(self, process: int, queue: int, pool: int, number: int) -> int: ...
    def host_leave(self, queue: int) -> None: ...
    def host_take(self, queue: int) -> int: ...
    def latch_make(self, context: int, value: int) -> int: ...
    def request_cancel(self, request: int) -> int: ...
    def request_enter(self, request: int) -> None: ...
    def request_notify(self, request: int) -> int: ...
    def value_add_reference(self, value: int) -> None: ...
    def value_and_then(self, context: int, value: int, handle: int) -> None: ...
    def value_claim(self, value: int) -> int: ...
    def value_drop(self, context: int, value: int) -> None: ...
    def value_forward(self, context: int, indirect: int, target: int) -> None: ...
    def value_make(self, context: int, payload_type: int) -> int: ...
    def value_make_indirect(self, context: int) -> int: ...
    def value_of(self, context: int, payload_type: int, first: int, second: int) -> int: ...
    def value_outcome(self, value: int) -> int: ...
    def value_set_error(self, context: int, value: int, handle: int) -> None: ...


@_of("python_calls")
class _QuickPythonCalls(Protocol):
    def drop_results(self, context: int, first: int, size: int, count: int) -> None: ...
    def read_results(
        self, first: int, size: int, count: int, payload_type: int, into: int
    ) -> int: ...
    def start_calls_with(
        self, context: int, function: int, request: int, count: int, begun: int, is_task: int
    ) -> None: ...
    def start_rows(
        self, context: int, function: int, request: int, first: int, count: int, is_task: int
    ) -> None: ...
    def start_call_with(self, context: int, function: int, request: int, is_task: int) -> None: ...


@_of("python_runs")
class _QuickPythonRuns(Protocol):
    def next_number(self, process: int) -> int: ...


@_of("async_objects")
class _QuickAsyncObjects(Protocol):
    def async_abandon(self, context: int, value: int, failure: int) -> int: ...
    def async_sweep(self, context: int, shared: int) -> None: ...
    def next_stuck(self, shared: int, after: int) -> int: ...


@_of("async_interrupts")
class _QuickAsyncInterrupts(Protocol):
    def change_interrupts(self, process: int, added: int, removed: int) -> None: ...
    def present_context(self, unused: int) -> int: ...


@_of("async_buffers")
class _QuickAsyncBuffers(Protocol):
    def free_kept(self, context: int, handle: int) -> int: ...
    def keep_buffer(self, context: int, handle: int) -> int: ...


class Quick(
    _QuickCells,
    _QuickTrimming,
    _QuickEvents,
    _QuickDeques,
    _QuickBlockingPool,
    _QuickWaiters,
    _QuickStarting,
    _QuickTensors,
    _QuickHandles,
    _QuickPythonCalls,
    _QuickPythonRuns,
    _QuickAsyncObjects,
    _QuickAsyncInterrupts,
    _QuickAsyncBuffers,
    Protocol,
):
    """Entries that keep the GIL: they never wait, and what they call in Python is short."""


@_of("sharing")
class _SlowSharing(Protocol):
    def hand_over(self, context: int) -> None: ...


@_of("activation")
class _SlowActivation(Protocol):
    def leave_request(self, context: int, request: int) -> None: ...


@_of("executor")
class _SlowExecutor(Protocol):
    def blocking_loop(self, context: int, pool: int, idle_ns: int) -> None: ...
    def help_until(self, context: int, word: int, deadline: int) -> int: ...
    def start_call(
        self, context: int, function: int, request: int, values: int, is_task: int
    ) -> None: ...
    def refuse_blocking(self, context: int, task: int) -> None: ...
    def run_one(self, context: int, task: int, budget: int) -> None: ...
    def watch_until(self, context: int, word: int, deadline: int) -> int: ...
    def worker_loop(self, context: int) -> None: ...


@_of("handles")
class _SlowHandles(Protocol):
    def pool_stop(self, pool: int) -> None: ...
    def queue_stop(self, queue: int) -> None: ...
    def value_emplace(
        self, context: int, value: int, payload_type: int, first: int, second: int
    ) -> None: ...
    def value_break(self, context: int, indirect: int, failure: int) -> None: ...
    def value_forward(self, context: int, indirect: int, target: int) -> None: ...
    def value_set_error(self, context: int, value: int, handle: int) -> None: ...


@_of("python_calls")
class _SlowPythonCalls(Protocol):
    def start_calls_with(
        self, context: int, function: int, request: int, count: int, begun: int, is_task: int
    ) -> None: ...
    def start_rows(
        self, context: int, function: int, request: int, first: int, count: int, is_task: int
    ) -> None: ...
    def start_call_with(self, context: int, function: int, request: int, is_task: int) -> None: ...


@_of("async_awaiting")
class _SlowAsyncAwaiting(Protocol):
    def async_call(self, context: int, function: int, argument: int) -> int: ...


@_of("compiled_kernels")
class _SlowCompiledKernels(Protocol):
    def visit_imports(self, context: int, shared: int, request: int, failure: int) -> None: ...


class Slow(
    _SlowSharing,
    _SlowActivation,
    _SlowExecutor,
    _SlowHandles,
    _SlowPythonCalls,
    _SlowAsyncAwaiting,
    _SlowCompiledKernels,
    Protocol,
):
    """Entries that give the GIL away while they run: they may wait, and run kernels."""


class Entries:
    """The entries of the core, each made when it is first asked for.  Safe to share between
    threads.
    """

    def __init__(self, make: Callable[[str], Callable[..., int]]) -> None:
        """`make` gives the entry that the core exports as `MODULE.NAME`."""
        self._make = make

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in MODULES:
            raise AttributeError(f"the core has no entry {name} for Python")
        entry = self.__dict__[name] = self._make(f"{MODULES[name]}.{name}")
        return entry
