"""The entries of the native core that Python calls: their names and their words.

Each word is an integer of 64 bits; addresses are of structs in `native.layouts`.  What an entry does, which references it
takes and on which threads it may run is said by the function of the same name in the core.  A test compares both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

MODULES: dict[str, str] = {}
"""Which module of the core has an entry, by the entry's name."""

Declaration = TypeVar("Declaration", bound=Callable[..., int | None])


def _of(module: str) -> Callable[[Declaration], Declaration]:
    """Note which module of the core has the entry that is declared."""

    def note(declaration: Declaration) -> Declaration:
        MODULES[declaration.__name__] = module
        return declaration

    return note


class Quick(Protocol):
    """Entries that keep the GIL: they never wait, and what they call in Python is short."""

    @_of("budget")
    def give_back(self, process: int, size: int) -> None: ...

    @_of("budget")
    def limit_of(self, context: int) -> int: ...

    @_of("budget")
    def reserve_within(self, process: int, limit: int, size: int) -> int: ...

    @_of("cells")
    def fill_stock(self, process: int) -> None: ...

    @_of("cells")
    def trim(self, process: int, kept: int) -> int: ...

    @_of("cells")
    def trim_at_rest(self, context: int) -> None: ...

    @_of("events")
    def log_clock(self, context: int) -> int: ...

    @_of("events")
    def log_drain(self, ring: int, target: int, room: int) -> int: ...

    @_of("events")
    def take_kept(self, place: int) -> int: ...

    @_of("starting")
    def begin_started(self, queue: int) -> None: ...

    @_of("tensors")
    def add_tensor_reference(self, tensor: int) -> None: ...

    @_of("tensors")
    def drop_tensor(self, context: int, tensor: int) -> None: ...

    @_of("tensors")
    def reclaim_all(self, process: int, unused: int) -> int: ...

    @_of("tensors")
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

    @_of("tensors")
    def trim_store(self, memory_store: int) -> int: ...

    @_of("handles")
    def context_free(self, context: int) -> None: ...

    @_of("handles")
    def context_make(self, process: int, queue: int, pool: int, number: int) -> int: ...

    @_of("handles")
    def host_leave(self, queue: int) -> None: ...

    @_of("handles")
    def host_take(self, queue: int) -> int: ...

    @_of("handles")
    def latch_drop(self, context: int, latch: int) -> None: ...

    @_of("handles")
    def latch_make(self, context: int, value: int) -> int: ...

    @_of("handles")
    def request_cancel(self, request: int) -> int: ...

    @_of("handles")
    def request_enter(self, request: int) -> None: ...

    @_of("handles")
    def request_hear(self, request: int) -> int: ...

    @_of("handles")
    def value_add_reference(self, value: int) -> None: ...

    @_of("handles")
    def value_and_then(self, context: int, value: int, handle: int) -> None: ...

    @_of("handles")
    def value_claim(self, value: int) -> int: ...

    @_of("handles")
    def value_drop(self, context: int, value: int) -> None: ...

    @_of("handles")
    def value_forward(self, context: int, indirect: int, target: int) -> None: ...

    @_of("handles")
    def value_make(self, context: int, payload_type: int) -> int: ...

    @_of("handles")
    def value_make_indirect(self, context: int) -> int: ...

    @_of("handles")
    def value_of(self, context: int, payload_type: int, first: int, second: int) -> int: ...

    @_of("handles")
    def value_outcome(self, value: int) -> int: ...

    @_of("handles")
    def value_set_error(self, context: int, value: int, handle: int) -> None: ...

    @_of("python_calls")
    def drop_results(self, context: int, first: int, size: int, count: int) -> None: ...

    @_of("python_calls")
    def read_results(
        self, first: int, size: int, count: int, payload_type: int, into: int
    ) -> int: ...

    @_of("python_calls")
    def start_calls_with(
        self, context: int, function: int, request: int, count: int, is_task: int
    ) -> None: ...

    @_of("python_calls")
    def start_call_with(self, context: int, function: int, request: int, is_task: int) -> None: ...

    @_of("python_runs")
    def next_number(self, process: int) -> int: ...

    @_of("async_objects")
    def async_give_up(self, context: int, value: int, failure: int) -> int: ...

    @_of("async_objects")
    def async_sweep(self, context: int, shared: int) -> None: ...

    @_of("async_objects")
    def next_stuck(self, shared: int, after: int) -> int: ...

    @_of("async_interrupts")
    def change_interrupts(self, process: int, added: int, removed: int) -> None: ...

    @_of("async_interrupts")
    def present_context(self, unused: int) -> int: ...

    @_of("async_buffers")
    def free_kept(self, context: int, handle: int) -> int: ...

    @_of("async_buffers")
    def keep_buffer(self, context: int, handle: int) -> int: ...

    @_of("outside_queues")
    def take_blocking(self, pool: int) -> int: ...

    @_of("outside_queues")
    def take_tasks(self, queue: int) -> int: ...


class Slow(Protocol):
    """Entries that give the GIL away while they run: they may wait, and run kernels."""

    @_of("sharing")
    def hand_over(self, context: int) -> None: ...

    @_of("executor")
    def blocking_loop(self, context: int, pool: int, idle_ns: int) -> None: ...

    @_of("executor")
    def help_until(self, context: int, word: int, deadline: int) -> int: ...

    @_of("executor")
    def start_call(
        self, context: int, function: int, request: int, values: int, is_task: int
    ) -> None: ...

    @_of("executor")
    def watch_until(self, context: int, word: int, deadline: int) -> int: ...

    @_of("executor")
    def worker_loop(self, context: int) -> None: ...

    @_of("handles")
    def pool_stop(self, pool: int) -> None: ...

    @_of("handles")
    def queue_stop(self, queue: int) -> None: ...

    @_of("handles")
    def request_leave(self, context: int, request: int) -> None: ...

    @_of("handles")
    def value_emplace(
        self, context: int, value: int, payload_type: int, first: int, second: int
    ) -> None: ...

    @_of("handles")
    def value_break(self, context: int, indirect: int, failure: int) -> None: ...

    @_of("handles")
    def value_forward(self, context: int, indirect: int, target: int) -> None: ...

    @_of("handles")
    def value_set_error(self, context: int, value: int, handle: int) -> None: ...

    @_of("python_calls")
    def start_calls_with(
        self, context: int, function: int, request: int, count: int, is_task: int
    ) -> None: ...

    @_of("python_calls")
    def start_call_with(self, context: int, function: int, request: int, is_task: int) -> None: ...

    @_of("async_awaiting")
    def async_call(self, context: int, function: int, argument: int) -> int: ...

    @_of("compiled_kernels")
    def visit_imports(self, context: int, shared: int, request: int, failure: int) -> None: ...

    @_of("outside_queues")
    def refuse(self, context: int, task: int) -> None: ...

    @_of("outside_queues")
    def run_one(self, context: int, task: int, budget: int) -> None: ...


class Entries:
    """The entries of the core, each made when it is first asked for.  Safe to share between threads."""

    def __init__(self, make: Callable[[str], Callable[..., int]]) -> None:
        """`make` gives the entry that the core exports as `MODULE.NAME`."""
        self._make = make

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in MODULES:
            raise AttributeError(f"the core has no entry {name} for Python")
        entry = self.__dict__[name] = self._make(f"{MODULES[name]}.{name}")
        return entry
