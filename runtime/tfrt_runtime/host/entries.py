"""The entries of the native core that Python calls: their names, and how many words they take.

Each word is an integer of 64 bits; addresses are of structs in `native.layouts`.  What an entry
does, which references it takes and on which threads it may run is said by the function of the same
name in the core.  A test compares both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar

MODULES: dict[str, str] = {}
"""The module of the core that has each entry, by the entry's name."""

Declared = TypeVar("Declared", bound=type)
Words1: TypeAlias = Callable[[int], int]
Words2: TypeAlias = Callable[[int, int], int]
Words3: TypeAlias = Callable[[int, int, int], int]
Words4: TypeAlias = Callable[[int, int, int, int], int]
Words5: TypeAlias = Callable[[int, int, int, int, int], int]
Words6: TypeAlias = Callable[[int, int, int, int, int, int], int]
Words7: TypeAlias = Callable[[int, int, int, int, int, int, int], int]


def _of(module: str) -> Callable[[Declared], Declared]:
    """Note which module of the core has the entries that a class declares."""

    def note(declared: Declared) -> Declared:
        MODULES.update(dict.fromkeys(declared.__annotations__, module))
        return declared

    return note


@_of("handles")
class _Handles(Protocol):
    value_forward: Words3
    value_set_error: Words3


@_of("python_calls")
class _PythonCalls(Protocol):
    start_calls_with: Words6
    start_rows: Words6
    start_call_with: Words4


@_of("cells")
class _QuickCells(Protocol):
    fill_stock: Words1
    give_back: Words2
    memory_limit: Words1
    reserve_within: Words3


@_of("trimming")
class _QuickTrimming(Protocol):
    trim: Words2
    trim_at_rest: Words1


@_of("events")
class _QuickEvents(Protocol):
    log_clock: Words1
    log_drain: Words3
    take_kept: Words1


@_of("deques")
class _QuickDeques(Protocol):
    take_tasks: Words1


@_of("blocking_pool")
class _QuickBlockingPool(Protocol):
    pool_pop: Words1


@_of("waiters")
class _QuickWaiters(Protocol):
    drop_latch: Words2


@_of("starting")
class _QuickStarting(Protocol):
    begin_started: Words1


@_of("tensors")
class _QuickTensors(Protocol):
    add_tensor_reference: Words1
    drop_tensor: Words2
    reclaim_all: Words2
    tensor_over: Words7
    trim_store: Words1


@_of("handles")
class _QuickHandles(Protocol):
    context_free: Words1
    context_make: Words4
    host_leave: Words1
    host_take: Words1
    latch_make: Words2
    request_cancel: Words1
    request_enter: Words1
    request_notify: Words1
    value_add_reference: Words1
    value_and_then: Words3
    value_claim: Words1
    value_drop: Words2
    value_make: Words2
    value_make_indirect: Words1
    value_of: Words4
    value_outcome: Words1


@_of("python_calls")
class _QuickPythonCalls(Protocol):
    drop_results: Words4
    read_results: Words5


@_of("python_runs")
class _QuickPythonRuns(Protocol):
    next_number: Words1


@_of("async_objects")
class _QuickAsyncObjects(Protocol):
    async_abandon: Words3
    async_sweep: Words2
    next_stuck: Words2


@_of("async_interrupts")
class _QuickAsyncInterrupts(Protocol):
    change_interrupts: Words3
    present_context: Words1


@_of("async_buffers")
class _QuickAsyncBuffers(Protocol):
    free_kept: Words2
    keep_buffer: Words2


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
    _Handles,
    _PythonCalls,
    Protocol,
):
    """Entries that keep the GIL: they never wait, and what they call in Python is short."""


@_of("sharing")
class _SlowSharing(Protocol):
    hand_over: Words1


@_of("activation")
class _SlowActivation(Protocol):
    leave_request: Words2


@_of("executor")
class _SlowExecutor(Protocol):
    blocking_loop: Words3
    help_until: Words3
    start_call: Words5
    refuse_blocking: Words2
    run_one: Words3
    watch_until: Words3
    worker_loop: Words1


@_of("handles")
class _SlowHandles(Protocol):
    pool_stop: Words1
    queue_stop: Words1
    value_emplace: Words5
    value_break: Words3


@_of("async_awaiting")
class _SlowAsyncAwaiting(Protocol):
    async_call: Words3


@_of("compiled_kernels")
class _SlowCompiledKernels(Protocol):
    visit_imports: Words4


class Slow(
    _SlowSharing,
    _SlowActivation,
    _SlowExecutor,
    _SlowHandles,
    _SlowAsyncAwaiting,
    _SlowCompiledKernels,
    _Handles,
    _PythonCalls,
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
