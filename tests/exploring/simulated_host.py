"""A work queue, the contexts of its threads, and the callbacks of a process, in a simulated world.

This module builds in a `World`, for the uncompiled core, a minimal version of what `host` builds in
real memory for the compiled core. Scenarios run the native functions on its contexts:

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        value = handles.value_make(host.main, TYPE_I64)
        world.thread(lambda: handles.value_emplace(host.contexts[0], value, 42, 0))
        world.thread(lambda: handles.value_drop(host.contexts[1], value))

After the threads have exited, it frees everything that it allocated, including the free lists of
the contexts. Every block that is left is a leak.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tests.simulator.world import World

from tfrt_runtime.native import cells, memory, trimming
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_reference, new_value, set_error
from tfrt_runtime.native.calls.activation import cancel_request
from tfrt_runtime.native.calls.executor import run_blocking, run_entry, run_root
from tfrt_runtime.native.handles import context_free, context_make
from tfrt_runtime.native.layouts.declared import FIELDS
from tfrt_runtime.native.python.python_calls import run_rows
from tfrt_runtime.native.queues.tasks import free_task

WARM_CLASSES = 6
"""The number of block sizes that come from free lists from the start."""


@cache
def fields(prefix: str) -> dict[int, str]:
    """Return the names of a struct's fields by offset; if several share a word, the first."""
    offsets = FIELDS[prefix.rstrip("_")]
    return {offset: name for name, offset in reversed(offsets.items())}


class SimulatedHost:
    """A process with a work queue, a blocking pool, and contexts for the threads of a scenario.

    `main` is the context of the scenario itself, and `contexts[i]` that of worker i, which owns
    deque i; `outside` are contexts of threads that do not belong to the queue.

    Calls of the process's callbacks are recorded: `refused` has the sizes of refused allocations,
    `released` the handles of objects whose last reference was dropped, `called` the handles of
    Python waiters that ran, `errors` the numbers of reported messages, and `done` the requests that
    have finished. `needed` counts how often the pool requested a thread, which also calls
    `on_need_thread`. The explorer does not try all orders of these, so compare them sorted.
    `own_values` counts the AsyncValues that the host itself keeps.

    `on_done` is called after a request has finished; with `release_programs`, it does what Python
    does after the caller has dropped the program.
    """

    def __init__(
        self, world: World, workers: int = 0, outside: int = 0, pool_places: int = 0
    ) -> None:
        self.world = world
        self.released: list[int] = []
        self.called: list[int] = []
        self.errors: list[int] = []
        self.done: list[int] = []
        self.refused: list[int] = []
        self._requests: set[int] = set()
        self.needed = 0
        self.on_need_thread: Callable[[], object] = lambda: None
        self.on_done: Callable[[], object] = lambda: None
        self.own_values = 0
        self.programs: list[int] = []
        self._blocks: list[int] = []
        self.process = self._make_process()
        self.queue = self.block(at.QUEUE_SIZE, "queue", "QUEUE_")
        self.pool = self._make_pool(pool_places) if pool_places else 0
        self.main = self._make_context(0)
        self.contexts = [self._make_context(1 + i) for i in range(workers)]
        self.outside = [self._make_context(1 + workers + i) for i in range(outside)]
        self.deques = [self.block(at.DEQUE_SIZE, f"deque {i}", "DEQUE_") for i in range(workers)]
        self._connect()
        world.finally_assert(self.close)

    def request(self, active: int = 0, behind: int = 0) -> int:
        """Create a request that is not cancelled, with that many bytes after its own words."""
        request = self.block(at.REQUEST_SIZE + behind, "request", "REQUEST_")
        memory.store(request + at.REQUEST_ACTIVE, active)
        memory.store(request + at.REQUEST_NOTIFY, at.NOTIFY_PYTHON)
        self._requests.add(request)
        error = self.error(-1)
        self.own_values += 1
        memory.store(request + at.REQUEST_CANCELLED_VALUE, error)

        def forget() -> None:
            drop_reference(self.main, error)
            self.own_values -= 1

        self.world.finally_assert(forget)
        return request

    def error(self, handle: int) -> int:
        """Create an error value with one reference."""
        value = new_value(self.main, 0)
        set_error(value, handle, at.TYPE_ERROR)
        return value

    def function(self, function: Callable[..., int | None]) -> int:
        """Return the address of a Python or native function."""
        return self.world.function(function)

    def noting(self, ran: list[int], then: Callable[[], object] = lambda: None) -> int:
        """Return the address of a task function that records its task, and then calls `then`.

        It appends the first word of the task to `ran`.
        """

        def run(context: int, task: int) -> None:
            ran.append(memory.load(task + at.TASK_FIRST))
            free_task(context, task)
            then()

        return self.function(run)

    def block(self, size: int, label: str, prefix: str = "") -> int:
        """Allocate a block of zeros that the host frees in the end; `prefix` names its fields."""
        # This is not memory of the core, so scenarios that refuse memory do not refuse it.
        refuses, self.world.refuses = self.world.refuses, lambda: False
        block = self.world.label(memory.allocate(size), label, fields(prefix) if prefix else None)
        self.world.refuses = refuses
        memory.clear(block, size)
        self._blocks.append(block)
        return block

    def release_programs(self) -> None:
        """Free the blocks in `programs`: an access afterwards is a use after free."""
        while self.programs:
            block = self.programs.pop()
            self._blocks.remove(block)
            memory.release(block)

    def live_values(self) -> int:
        """Return the number of AsyncValues made and not destroyed; exact while no thread runs."""
        return sum(
            memory.load(context + at.CONTEXT_MADE) - memory.load(context + at.CONTEXT_DROPPED)
            for context in self._contexts()
        )

    def close(self) -> None:
        """Free everything that the host holds; afterwards every block is a leak."""
        for context in self._contexts():
            context_free(context)
        trimming.trim(self.process, 0)
        while slab := cells.take_stocked(self.process):
            memory.release(slab)
            cells.give_back(self.process, at.SLAB_SIZE)
        held = memory.load(self.process + at.PROCESS_HELD)
        assert held == 0, f"{held} bytes are still counted"
        for block in self._blocks:
            memory.release(block)

    def _contexts(self) -> list[int]:
        return [self.main, *self.contexts, *self.outside]

    def _make_process(self) -> int:
        process = self.block(at.PROCESS_SIZE, "process", "PROCESS_")
        callbacks: dict[int, Callable[..., int | None]] = {
            at.PROCESS_RELEASE_OBJECT: lambda _, handle: self.released.append(handle),
            at.PROCESS_PYTHON_WAITER: lambda _, handle: self.called.append(handle),
            at.PROCESS_REPORT_ERROR: self._report_error,
            at.PROCESS_REQUEST_DONE: self._request_done,
            at.PROCESS_NEED_THREAD: self._need_thread,
            at.PROCESS_RUN_ENTRY: run_entry,
            at.PROCESS_RUN_BLOCKING: run_blocking,
            at.PROCESS_RUN_ROOT: run_root,
            at.PROCESS_RUN_ROWS: run_rows,
            at.PROCESS_RECLAIM: lambda process, _: trimming.trim(process, 0),
            at.PROCESS_REFUSED: self._refused,
        }
        for field, callback in callbacks.items():
            memory.store(process + field, self.world.function(callback))
        memory.store(process + at.PROCESS_MEMORY_LIMIT, 1 << 40)
        return process

    def _report_error(self, context: int, _record: int, message: int) -> int:
        self.errors.append(message)
        value = new_value(context, 0)
        set_error(value, message, at.TYPE_ERROR)
        return value

    def _refused(self, context: int, _record: int, size: int) -> int:
        """Do what Python does: cancel the run that the thread works for, if any."""
        self.refused.append(size)
        request = memory.load(context + at.CONTEXT_REQUEST)
        if request not in self._requests:
            return 0
        cancel_request(request)
        return 1

    def _request_done(self, _context: int, request: int, _told: int) -> None:
        self.done.append(request)
        self.on_done()

    def _need_thread(self, _context: int, _pool: int) -> None:
        self.needed += 1
        self.on_need_thread()

    def _make_pool(self, places: int) -> int:
        pool = self.block(at.POOL_CELLS + 16 * places, "pool", "POOL_")
        memory.store(pool + at.POOL_CAPACITY, places)
        memory.store(pool + at.POOL_LIMIT, 100)
        for place in range(places):
            memory.store(pool + at.POOL_CELLS + 16 * place, place)
        return pool

    def _make_context(self, number: int) -> int:
        context = context_make(self.process, self.queue, self.pool, number)
        for size_class in range(1, WARM_CLASSES + 1):
            # Each context gets its own slabs, so that threads do not interact in the allocator.
            cells.give_block(context, cells.refill(context, size_class), at.CELL_SIZE * size_class)
        return self.world.label(context, f"context {number}", fields("CONTEXT_"))

    def _connect(self) -> None:
        table = self.block(8 * max(1, len(self.deques)), "deques")
        for number, (context, deque) in enumerate(zip(self.contexts, self.deques, strict=True)):
            memory.store(context + at.CONTEXT_WORKER, number)
            memory.store(context + at.CONTEXT_DEQUE, deque)
            memory.store(table + 8 * number, deque)
        memory.store(self.queue + at.QUEUE_WORKERS, len(self.deques))
        memory.store(self.queue + at.QUEUE_DEQUES, table)


def name_cell(world: World, address: int, label: str, prefix: str = "VALUE_") -> int:
    """Name a cell and its fields for reports, and return its address."""
    names = {offset: name for offset, name in fields(prefix).items() if offset < at.CELL_SIZE}
    return world.label(address, label, names)
