"""The parts of a host that compiled coroutines need, in a simulated world.

The C functions run unchanged.

    def scenario(world: World) -> None:
        host = SimulatedHost(world, outside=1)
        coroutines = SimulatedCoroutines(host)
        token = coroutines.on(host.main, async_abi.create_token)()
        world.thread(coroutines.on(host.outside[0], lambda: async_abi.emplace_object(token)))

A coroutine is a number; resuming it records the number in `resumed`, unless `when_resumed` does
more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tests.exploring.simulated_host import SimulatedHost, name_cell
from tests.simulator.world import World

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import memory
from tfrt_runtime.native.async_value import new_value, set_error
from tfrt_runtime.native.calls.executor import run_task
from tfrt_runtime.native.coroutines import async_abi
from tfrt_runtime.native.coroutines.async_awaiting import run_coroutine, take_task
from tfrt_runtime.native.coroutines.async_groups import member_resolved
from tfrt_runtime.native.coroutines.async_objects import async_sweep

Result = TypeVar("Result")


class Scene:
    """A host with its own threads that run compiled code; no object may be left in the end."""

    def __init__(self, world: World, threads: int, *, checked: bool = False) -> None:
        self.world = world
        self.host = SimulatedHost(world, outside=threads)
        self.coroutines = SimulatedCoroutines(self.host, checked=checked)
        self._idle = list(self.host.outside)
        world.finally_assert(self._nothing_is_left)

    def main(self, body: Callable[[], Result]) -> Result:
        """Run compiled code before the threads start, or after they have finished."""
        return self.coroutines.on(self.host.main, body)()

    def thread(self, body: Callable[[], object], name: str = "") -> None:
        """Run compiled code on a thread."""
        self.world.thread(self.coroutines.on(self._idle.pop(0), body), name)

    def token(self, name: str = "token") -> int:
        """Create a token with two references."""
        return name_cell(self.world, self.main(async_abi.create_token), name)

    def group(self, size: int) -> int:
        """Create a group with one reference."""
        return name_cell(self.world, self.main(lambda: async_abi.create_group(size)), "group")

    def drop(self, *values: int) -> None:
        """Drop a reference to each."""
        for value in values:
            self.main(lambda value=value: async_abi.drop_ref(value, 1))  # type: ignore[misc]

    def finish(self) -> list[int]:
        """Run the remaining tasks, and return the resumed coroutines."""
        self.coroutines.run_tasks(self.host.main)
        return sorted(self.coroutines.resumed)

    def _nothing_is_left(self) -> None:
        self.coroutines.sweep()
        assert self.host.live_values() == self.host.own_values
        assert memory.load_acquire(self.coroutines.shared + at.ASYNC_REGISTERED) == 0


class SimulatedCoroutines:
    """The state of compiled programs on the queue of a simulated host.

    `events` are native code's reports to Python, except requests to describe an error; each error
    has a number, from 1 on, under which the host records its release. `answers` has Python's
    answers by event, as functions of the context and the argument; the answer is 0 if there is
    none.
    """

    def __init__(self, host: SimulatedHost, *, checked: bool = False) -> None:
        self.host = host
        self.resumed: list[int] = []
        self.events: list[tuple[int, int]] = []
        self.answers: dict[int, Callable[[int, int], int]] = {}
        self.when_resumed: Callable[[int], object] = lambda handle: None
        self._described = 0
        self.shared = host.block(at.ASYNC_SIZE, "async", "ASYNC_")
        memory.store(self.shared + at.ASYNC_CHECKED, int(checked))
        memory.store(self.shared + at.ASYNC_LIMIT, 1000)
        memory.store(host.queue + at.QUEUE_ASYNC, self.shared)
        memory.store(host.process + at.PROCESS_RUN_COROUTINE, host.function(run_coroutine))
        memory.store(host.process + at.PROCESS_MEMBER_RESOLVED, host.function(member_resolved))
        memory.store(host.process + at.PROCESS_ASYNC_EVENT, host.function(self._on_event))
        self.resume = host.function(self._resume)
        host.world.finally_assert(self.sweep)

    def on(self, context: int, body: Callable[[], Result]) -> Callable[[], Result]:
        """Return `body` as compiled code that runs with `context`."""

        def run() -> Result:
            former = memory.set_thread_context(context)
            try:
                return body()
            finally:
                memory.set_thread_context(former)

        return run

    def run_tasks(self, context: int) -> None:
        """Run queued tasks until none are left."""
        former = memory.set_thread_context(context)
        while (task := take_task(context)) != 0:
            run_task(context, task)
        memory.set_thread_context(former)

    def sweep(self) -> None:
        """Destroy the registered objects that only the list refers to."""
        async_sweep(self.host.main, self.shared)

    def _resume(self, handle: int) -> None:
        self.resumed.append(handle)
        self.when_resumed(handle)

    def _on_event(self, context: int, event: int, argument: int) -> int:
        if event not in (at.EVENT_DESCRIBE, at.EVENT_OVERFILLED):
            self.events.append((event, argument))
            answer = self.answers.get(event)
            return 0 if answer is None else answer(context, argument)
        self._described += 1
        value = new_value(context, 0)
        set_error(value, self._described, at.TYPE_ERROR)
        return value
