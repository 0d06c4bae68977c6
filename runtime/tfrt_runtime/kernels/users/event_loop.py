"""Coroutine kernels, and the event loop that they run on."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Generator
from contextvars import copy_context
from typing import TYPE_CHECKING, NoReturn

from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.waiting import COROUTINE
from tfrt_runtime.kernels.frame import KernelFrame, start_results
from tfrt_runtime.kernels.registry import ITS_LOOP, KernelError
from tfrt_runtime.kernels.users.outcomes import settle, settle_failed
from tfrt_runtime.kernels.users.retries import Attempts, Policy
from tfrt_runtime.native.machine import HAS_THREADS

if TYPE_CHECKING:
    import asyncio

MANY = 100
"""From this number of open calls on, the loop gathers new calls before it starts them."""
GATHER_SECONDS = 0.001
"""How many seconds the loop gathers new calls."""
RARELY = 100_000
"""How many new objects start a collection while thousands of calls are starting."""
STOP_SECONDS = 0.5
"""How many seconds `HostContext.close` waits for the coroutines that it has cancelled."""


def on_event_loop(
    name: str,
    function: Callable[..., Coroutine[object, object, object]],
    has_frame: bool,
    policy: Policy,
) -> Callable[..., object]:
    """Return a kernel function that starts the coroutine `function` on the host's event loop.

    The kernel function returns values that the coroutine resolves later.
    """
    is_plain = policy == Policy()

    def start(frame: KernelFrame, *values: object) -> AsyncValue | tuple[AsyncValue, ...]:
        given = (frame, *values) if has_frame else values
        results = start_results(frame, ITS_LOOP)
        serving = frame.host.shared_context(EventLoop)
        attempt = function(*given) if is_plain else serving.attempt(name, function, given, policy)
        call = _Call(name, frame, results, attempt)
        try:
            serving.begin(call)
        except RuntimeError:  # the loop is closed
            call.close()
            raise KernelError("the event loop of the host is closed") from None
        return results[0] if len(results) == 1 else results

    return start


class _Call(Coroutine[object, object, None]):
    """One call of a coroutine kernel, and the coroutine of the call's task.

    It passes each step to the kernel's coroutine, and resolves the results after the last step.  An
    `async def` method that awaits the kernel's coroutine would be one more object for each of
    thousands of pending calls, and could not handle a task that is cancelled before its first step.

    The run stays open until the coroutine has finished, or until it is clear that it cannot start.

    A closed loop drops its pending work, including this object and its results.
    """

    __slots__ = (
        *("name", "number", "place", "queue", "run", "task"),
        *("_context", "_coroutine", "_frame", "_is_open", "_kernel", "_results"),
    )

    def __init__(
        self,
        name: str,
        frame: KernelFrame,
        results: tuple[AsyncValue, ...],
        coroutine: Coroutine[object, object, object],
    ) -> None:
        self.name, self.place = name, frame.location
        self.run, self.queue = frame.request, frame.request.queue
        watch = self.run.watched
        self.number = -1 if watch is None else watch.kernel_here
        self.task: asyncio.Task[None] | None = None
        self._frame = frame
        self._results = results
        self._kernel = coroutine
        is_slow = watch is not None and watch.slow > 1
        self._coroutine = _slowed(coroutine, watch.slow) if watch and is_slow else coroutine
        self._context = copy_context()
        self._is_open = True
        # The run must not finish between the kernel's return and the first step of the task.
        frame.request.enter()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """End the call: leave the run, and drop what the call refers to.

        The call has finished or will not start.  Calling this method again does nothing.
        """
        if self._is_open:
            self._is_open = False
            self._coroutine.close()
            self._kernel.close()  # `_slowed` may not have started it
            self.run.leave(self)
            # Callbacks that the kernel has left behind keep this object alive, because their
            # context refers to it.  The task also refers to it, so drop the task and the context to
            # avoid a reference cycle.
            del self._frame, self._results, self._coroutine, self._kernel, self._context, self.run
            self.task = None

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the coroutine's task, on the thread of its loop."""
        self._context.run(COROUTINE.set, self)
        self.task = loop.create_task(self, context=self._context)
        # The callback is this object itself, because a bound method would be an additional object
        # for each of thousands of pending calls.
        self._frame.request.call_when_cancelled(self, self)

    def __call__(self) -> None:
        """Cancel the task, because the run is cancelled.

        Threads:
            any
        """
        if (task := self.task) is None:  # the task has finished in the meantime
            return
        try:
            task.get_loop().call_soon_threadsafe(task.cancel)
        except RuntimeError:  # the loop is closed: nothing resumes the task
            self.close()

    def send(self, value: object) -> object:
        """Run the coroutine up to its next wait; the task calls this."""
        return self._step(self._coroutine.send, value)

    def throw(self, *problem: object) -> object:
        """Raise an exception in the coroutine; the task calls this, even before the first step."""
        return self._step(self._coroutine.throw, *problem)

    def __await__(self) -> NoReturn:
        raise TypeError("only the task of a call runs its coroutine")

    def _step(self, step: Callable[..., object], *values: object) -> object:
        """Run a step of the coroutine; after the last step, resolve the results.

        No other exception leaves this method: a SystemExit or KeyboardInterrupt that leaves a task
        would end the loop.

        Raises:
            StopIteration: after the last step.
        """
        try:
            try:
                return step(*values)
            except StopIteration as ended:
                returned = ended.value
            # This is in the outer `try`: if the values do not fit, the results become errors, too.
            settle(self._frame, self._results, returned)
        except BaseException as problem:  # noqa: BLE001 - it becomes the results' error
            is_cancelled = type(problem).__name__ == "CancelledError"
            # Cancelling the run has already resolved the results.
            if not (is_cancelled and self._frame.is_cancelled):
                settle_failed(self._frame, self._results, problem)
        self.close()
        raise StopIteration


async def _slowed(coroutine: Coroutine[object, object, object], factor: float) -> object:
    """Await the coroutine, and then sleep.

    In total, the call takes `factor` times as long, because a slowed-down run is easier to watch.
    """
    from asyncio import CancelledError, sleep

    began = time.monotonic()
    try:
        return await coroutine
    except CancelledError:
        # A cancelled kernel must end now, so the sleep below takes no time.
        factor = 1.0
        raise
    finally:
        await sleep((factor - 1) * (time.monotonic() - began))


class _Starting:
    """A batch of calls that the loop starts together, so that they share one wake-up.

    If the run has MANY open calls, the batch remains open, and the loop starts its new calls after
    GATHER_SECONDS.  With a wake-up for each of thousands of calls, the workers and the loop would
    pass the GIL to each other for each call.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._is_over = False
        self._lock = threading.RLock()
        self._collecting: Generator[None, None, None] | None = None

    def add(self, call: _Call) -> bool:
        """Add the call to the batch; return False if the batch is over."""
        with self._lock:
            if not self._is_over:
                self._calls.append(call)
            return not self._is_over

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start all calls that have been added, on the loop's thread."""
        with self._lock:
            calls, self._calls = self._calls, []
            self._is_over = not calls or calls[-1].run.outside < MANY
        if self._is_over:
            # Dropping the generator restores the collector's threshold.
            self._collecting = None
        else:
            loop.call_later(GATHER_SECONDS, self.begin, loop)
            if self._collecting is None:
                self._collecting = _collecting_rarely()
                next(self._collecting)
        for call in calls:
            call.begin(loop)


def _collecting_rarely() -> Generator[None, None, None]:
    """Let Python's garbage collector start rarely until the generator is closed or dropped.

    Each call of a kernel is about 20 objects.  Searching thousands of unfinished calls for garbage
    again and again would take as long as starting them.  The collector is not paused, because a
    kernel may block the loop for a long time.
    """
    before = gc.get_threshold()
    if not 0 < before[0] < RARELY:  # it is off, or another loop has done the same
        return (yield)
    gc.set_threshold(RARELY, *before[1:])
    try:
        yield
    finally:
        if gc.get_threshold()[0] == RARELY:  # the user may have changed it
            gc.set_threshold(*before)


class EventLoop:
    """The event loop for a host's `async def` kernels.

    This is either the user's loop or a loop on a separate thread.
    """

    def __init__(self, host: HostContext) -> None:
        import asyncio

        self._limits: dict[object, asyncio.Semaphore] = {}
        self._starting: weakref.ref[_Starting] | None = None
        """The batch that new calls join.

        The reference is weak because a closed loop drops its batches.
        """
        self.close: Callable[[], object] = lambda: None
        """Stops the loop's thread.  A user's loop keeps running."""
        if host.loop is not None:
            self.loop = host.loop
            return
        if HAS_THREADS:
            self.loop = asyncio.new_event_loop()
            stop = _ServedLoop(self.loop).stop
        else:
            from tfrt_runtime.kernels.users.stepped_loop import SteppedLoop

            self.loop = stepped = SteppedLoop(_ended)
            stop = stepped.stop_serving
        host.serving_loop = self.loop
        # The finalizer stops the loop even if the host, and therefore this object, is dropped
        # without being closed.
        self.close = weakref.finalize(self, stop)

    def begin(self, call: _Call) -> None:
        """Let the loop start a call.

        Raises:
            RuntimeError: if the loop is closed.

        Threads:
            any
        """
        starting = None if self._starting is None else self._starting()
        if starting is not None and starting.add(call):
            return
        # Two threads may get here at the same time. The loop then starts both batches.
        starting = _Starting()
        starting.add(call)
        self._starting = weakref.ref(starting)
        self.loop.call_soon_threadsafe(starting.begin, self.loop)

    async def attempt(
        self,
        name: str,
        function: Callable[..., Coroutine[object, object, object]],
        values: tuple[object, ...],
        policy: Policy,
    ) -> object:
        """Call the coroutine function as the policy says, and return its result."""
        import asyncio

        async def once(attempts: Attempts) -> object:
            try:
                async with asyncio.timeout(attempts.seconds) as limit:
                    return await function(*values)
            except TimeoutError:
                # Otherwise, the kernel itself raised the exception.
                if limit.expired():
                    raise attempts.timed_out() from None
                raise

        async def several() -> object:
            attempts = Attempts(name, policy)
            while True:
                try:
                    return await once(attempts)
                except Exception as problem:
                    pause = attempts.pause_after(problem)
                    if pause is None:
                        raise
                await asyncio.sleep(pause)

        if policy.limit is None:
            return await several()
        # Only the loop's thread uses these semaphores, so no lock is needed.
        if function not in self._limits:
            self._limits[function] = asyncio.Semaphore(policy.limit)
        async with self._limits[function]:
            return await several()


class _ServedLoop:
    """A loop that runs on a separate thread until it is stopped."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._is_stopped = False
        self._thread = start_thread("event loop", self._serve)

    def stop(self) -> None:
        """Cancel the remaining tasks and stop the thread.

        Threads:
            any
        """
        self._is_stopped = True
        with contextlib.suppress(RuntimeError):  # the loop is already closed
            self._loop.call_soon_threadsafe(self._loop.stop)
        # The finalizer may run on any thread, even on the loop's own.
        if threading.current_thread() is not self._thread:
            self._thread.join(2 * STOP_SECONDS)

    def _serve(self) -> None:
        """Run the loop until `stop` is called.

        A kernel may stop the loop, and an exception in a kernel's task or callback may end it.  In
        both cases, this method restarts the loop.
        """
        loop = self._loop
        while not self._is_stopped:
            try:
                loop.run_forever()
            except BaseException as problem:  # noqa: BLE001 - others need the loop
                loop.call_exception_handler(
                    {"message": "a task or callback of a kernel ended", "exception": problem}
                )
        with contextlib.suppress(BaseException):
            loop.run_until_complete(_ended())
        loop.close()


async def _ended() -> None:
    """Cancel the other tasks of this loop, and wait briefly for them."""
    import asyncio

    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=STOP_SECONDS)
    await asyncio.get_running_loop().shutdown_asyncgens()
