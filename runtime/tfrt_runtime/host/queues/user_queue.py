"""Work queues that users write, and the adapter that runs programs on them.

A user's queue (`ConcurrentWorkQueue`) receives tasks, which are Python callables, and decides where
and in which order they run.  `UserWorkQueue` is the adapter: it passes the native core's tasks to
the user's queue.  Each task runs a piece of the program when the user's queue calls it.

    class Pool:
        name, parallelism_level = "pool", 4
        def __init__(self): self.threads = ThreadPoolExecutor(4, "pool")
        def add_task(self, task): self.threads.submit(task)
        def add_blocking_task(self, task, allow_queuing): threading.Thread(target=task).start()
        def await_values(self, values): wait_until_done(values)
        def quiesce(self): ...
        def is_in_worker_thread(self): return threading.current_thread().name.startswith("pool")

    HostContext(work_queue=Pool())

If a user's queue drops a task without calling it, or raises an exception, the run ends with an
error.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, error
from tfrt_runtime.host import structs
from tfrt_runtime.host.interrupts import INTERRUPTS, SLICE_NS, WAITS
from tfrt_runtime.host.queues.queue_names import DEFAULT_BLOCKING_THREADS, WorkQueueError
from tfrt_runtime.host.queues.queue_threads import STOP_SECONDS
from tfrt_runtime.host.queues.threads import TimerQueue
from tfrt_runtime.host.queues.work_queue import (
    WorkQueue,
)
from tfrt_runtime.host.structs import WORDS
from tfrt_runtime.native import layouts as at

KERNELS_PER_TASK = 1024
MAX_KERNELS_PER_TASK = 1 << 30
NAP_SECONDS = 0.001


class Awaited(Protocol):
    """A value for which `ConcurrentWorkQueue.await_values` waits."""

    def done(self) -> bool:
        """Return whether the wait is over."""

    def and_then(self, waiter: Callable[[], None]) -> None:
        """Call `waiter` when the wait is over, or now if the wait is already over."""


class ConcurrentWorkQueue(Protocol):
    """A user's work queue.  Any thread may call any method.

    A task runs up to `kernels_per_task` consecutive short kernels, or up to 1,024 if the queue does
    not have this attribute.  A Python kernel is always the first kernel of its task.
    """

    @property
    def name(self) -> str:
        """The name of the queue in messages."""

    @property
    def parallelism_level(self) -> int:
        """How many tasks the queue runs at the same time."""

    def add_task(self, task: Task) -> None:
        """Call `task` now or later, on any thread."""

    def add_blocking_task(self, task: Task, allow_queuing: bool) -> Task | None:
        """Call `task` on a thread that may block.  If no such thread is available, return `task`.

        With `allow_queuing`, the task may wait until other tasks finish.  Otherwise, a running
        blocking kernel may be waiting for this task, so the task needs a thread immediately.
        """

    def await_values(self, values: Sequence[Awaited]) -> None:
        """Return when all values are done.  The thread may run tasks in the meantime."""

    def quiesce(self) -> None:
        """Return when no task is left."""

    def is_in_worker_thread(self) -> bool:
        """Return whether this is one of the queue's threads, which must not wait for its tasks."""


class Task:
    """A piece of a program, to be called once.

    `name` and `location` are the name and the location of its first kernel.
    """

    __slots__ = ("_address", "_queue", "location", "name")

    def __init__(
        self, queue: UserWorkQueue, address: int, name: str, location: AnyLocation | None
    ) -> None:
        self._queue = queue
        # A list, because `pop` is atomic: if two threads use the task, only one gets the address.
        self._address = [address]
        self.name = name
        self.location = location

    def __call__(self) -> None:
        """Run the task.

        Raises:
            RuntimeError: if the task has been called before.
        """
        if not self._address:
            raise RuntimeError(f"task '{self.name}' has already run")
        self._queue.run(self._address.pop())

    def take(self) -> int:
        """Return the address of the native task, which the caller then owns.

        Return 0 if the task has run.
        """
        return self._address.pop() if self._address else 0

    def __repr__(self) -> str:
        return f"<Task {self.name}>"

    def __del__(self) -> None:
        if address := self.take():
            self._queue.lost(address, self.name, self.location)


class UserWorkQueue(WorkQueue):
    """The adapter between the native core and a user's queue."""

    takes_calls = False  # the user's queue must see the first kernel of each task
    is_worked_here = False
    is_of_users = True

    def __init__(self, user: ConcurrentWorkQueue) -> None:
        super().__init__(0, DEFAULT_BLOCKING_THREADS, user.name)
        self._user = user
        wanted = getattr(user, "kernels_per_task", KERNELS_PER_TASK)
        self._kernels = min(max(1, wanted), MAX_KERNELS_PER_TASK)
        self._taken: deque[tuple[Callable[[int], None], int]] = deque()
        self._left = 0
        self._emptying: set[int] = set()
        self._starters: set[int] = set()
        """The contexts of blocking kernels that have started work for which they may wait."""
        self._lost: deque[tuple[int, Diagnostic]] = deque()
        self._moments: set[_Moment] = set()
        self._timers = TimerQueue()

    @property
    def parallelism_level(self) -> int:
        return self._user.parallelism_level

    def has_outside_tasks(self) -> bool:
        with self._lock:
            return self._left > 0

    def _note_starter(self) -> None:
        if self.blocks(own := self.context()):
            self._starters.add(own)

    def begin(self) -> None:
        self._note_starter()
        super().begin()
        self._empty()

    def hand_over(self) -> None:
        self._note_starter()
        super().hand_over()
        if not self.is_at_work_here:
            self._empty()
            self._look()

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        try:
            self._user.quiesce()
        finally:
            self._timers.close()
            super().stop(timeout)

    def _start_pool_thread(self) -> None:
        """Do nothing, because this thread will pass the blocking task to the user's queue."""

    def run(self, address: int) -> None:
        """Run a native task on this thread, and pass on the work that becomes ready."""
        # The user's thread must be free soon, so machine code bails out after a time slice.
        former, WAITS.goes_on = WAITS.goes_on, lambda: False
        try:
            with self._turn() as context:
                self._uncount()  # from now on, the odd epoch marks this work
                self.process.slow.run_one(context, address, self._kernels)
                self._starters.discard(context)
        finally:
            WAITS.goes_on = former
            self._empty()
            self._look()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[int]:
        """Let this thread run kernels inside the block, on a context with an odd activity epoch."""
        with INTERRUPTS, self.helper() as address:
            context = structs.Context.at(address)
            context.epoch += 1
            try:
                yield address
            finally:
                context.epoch += 1

    def lost(self, address: int, name: str, location: AnyLocation | None) -> None:
        """Keep a task that the user's queue dropped; the next waiting thread ends the task's run.

        A finalizer calls this.
        """
        text = f"work queue '{self.name}' dropped the task of '{name}' without running it"
        self._lost.append((address, error(text, location)))

    def wait(self, word: int, timeout: float | None, interrupted: Callable[[], bool]) -> bool:
        return self.help(word, timeout, interrupted)

    def help(
        self,
        word: int,
        timeout: float | None,
        interrupted: Callable[[], bool],
        slice_ns: int = SLICE_NS,
    ) -> bool:
        if self._user.is_in_worker_thread():
            raise WorkQueueError(error(f"a thread of work queue '{self.name}' cannot wait for it"))
        deadline = None if timeout is None else time.monotonic() + timeout
        self._note_starter()
        with INTERRUPTS:
            self._hand_over(self.context())
            self._offer_all()  # even if this thread is waiting inside a task that it offers
            self._look()
            while WORDS[word >> 3] != 0:
                while self._lost:
                    self._end_run(*self._lost.popleft())
                now = time.monotonic()
                if deadline is not None and now >= deadline:
                    return False
                end = now + slice_ns / 1e9
                self._await(word, end if deadline is None else min(end, deadline))
                INTERRUPTS.raise_if_noted()
                if WORDS[word >> 3] != 0 and interrupted():
                    return False
        return WORDS[word >> 3] == 0

    def _await(self, word: int, end: float) -> None:
        """Let the user's queue wait until the word is 0 or until the time `end`."""
        moment = _Moment(self, word, end)
        try:
            self._user.await_values([moment])
        except Exception as problem:
            text = f"work queue '{self.name}' cannot wait: {type(problem).__name__}: {problem}"
            raise WorkQueueError(error(text)) from problem
        finally:
            # Read this first: after `forget`, the event always counts as having happened.
            was_done = moment.done()
            moment.forget()
            self._moments.discard(moment)
        if not was_done:  # the queue returned too early: let other threads work
            time.sleep(NAP_SECONDS)

    def when_done(self, moment: _Moment, end: float) -> None:
        """Wake the waiters of `moment` when its event happens, but no later than the time `end`."""
        self._moments.add(moment)
        self._timers.at(end, moment.wake)
        # The word may have become 0 before the moment was in the set, where `_look` finds it.
        moment.wake()

    # Native code that sets a word does not call Python. Therefore, this thread checks all awaited
    # words after each step that may have set one.
    def _look(self) -> None:
        for moment in list(self._moments):
            moment.wake()

    def _uncount(self) -> None:
        with self._lock:
            self._left -= 1

    def _empty(self) -> None:
        """Pass all tasks that the core has queued to the user's queue.

        A user's queue may call a task while the task is being added.  If this thread is already in
        this method, a nested call therefore does nothing.
        """
        thread = threading.get_ident()
        if thread in self._emptying:
            return
        self._emptying.add(thread)
        try:
            self._offer_all()
        finally:
            self._emptying.discard(thread)

    def _offer_all(self) -> None:
        while (taken := self._take()) is not None:
            offer, address = taken
            offer(address)

    def _take(self) -> tuple[Callable[[int], None], int] | None:
        """Return the core's next task, or None if no task is queued.

        The result is the function that passes the task to the user's queue, and the task's address.
        """
        with self._lock:  # at any moment, each task is either in the core or in `_taken`
            if not self._taken:
                self._take_all()
            return self._taken.popleft() if self._taken else None

    def _take_all(self) -> None:
        task = self.process.quick.take_tasks(self.address)
        while task:
            self._taken.append((self._offer, task))
            task = structs.Task.at(task).next
        blocking = self.process.quick.pool_pop(self.pool)
        if blocking:
            self._taken.append((self._offer_blocking, blocking))
        # `_taken` was empty, so all tasks in it are new.
        self._left += len(self._taken)

    def _offer(self, address: int) -> None:
        made = self._make_task(address)
        if made is None:
            self.run(address)
            return
        try:
            self._user.add_task(made)
        except Exception as problem:  # noqa: BLE001 - it becomes the run's error
            self._refused(made, problem)

    def _offer_blocking(self, address: int) -> None:
        made = self._make_task(address)
        assert made is not None
        try:
            refused = self._user.add_blocking_task(made, allow_queuing=not self._starters)
        except Exception as problem:  # noqa: BLE001 - it becomes the run's error
            self._refused(made, problem)
            return
        # A queue may have called the task and then returned it. Only `take` says whether the task
        # has run.
        if refused is not None and made.take():
            with self._turn() as context:
                self.process.slow.refuse_blocking(context, address)
            self._uncount()

    def _make_task(self, address: int) -> Task | None:
        """Return a task for the user's queue, or None if the native task runs no kernel."""
        task, process = structs.Task.at(address), self.process
        is_entry = task.function == process.words.run_entry
        if is_entry and task.first & at.READY_BITS == at.READY_END and _is_in_order(task.first):
            return Task(self, address, "sync function", None)
        if is_entry and task.first & at.READY_BITS != at.READY_KERNEL:
            return None
        if is_entry or task.function == process.words.run_blocking:
            owner, number = process.owner_of(task.second)
            return Task(self, address, owner.kernel_name(number), owner.location_of(number))
        return Task(self, address, "task", None)

    def _refused(self, task: Task, problem: Exception) -> None:
        """End the run of a task that the user's queue did not accept."""
        if address := task.take():
            text = (
                f"work queue '{self.name}' did not accept the task of '{task.name}':"
                f" {type(problem).__name__}: {problem}"
            )
            self._end_run(address, error(text, task.location))

    def _end_run(self, address: int, diagnostic: Diagnostic) -> None:
        """End a task's run with an error: the task runs here, and skips its kernel."""
        task, words = structs.Task.at(address), self.process.words
        if task.function in (words.run_entry, words.run_blocking):
            activation = structs.Activation.at(task.first & ~at.READY_BITS)
            owner = self.process.requests[activation.request]
            owner.report(diagnostic)
            owner.cancel(diagnostic.message)
        self.run(address)


def _is_in_order(ended: int) -> bool:
    """Return whether a READY_END entry is the rest of a sync function (`calls.in_order`)."""
    function = structs.Activation.at(ended & ~at.READY_BITS).function
    return bool(structs.Function.at(function).flags & at.FUNCTION_IN_ORDER)


class _Moment:
    """The event for which a user's queue waits.

    The event happens when a word becomes 0 or when the time `end` has come.
    """

    def __init__(self, queue: UserWorkQueue, word: int, end: float) -> None:
        self._queue, self._word, self._end = queue, word, end
        self._waiters: list[Callable[[], None]] = []

    def done(self) -> bool:
        return self._word == 0 or WORDS[self._word >> 3] == 0 or time.monotonic() >= self._end

    def and_then(self, waiter: Callable[[], None]) -> None:
        self._waiters.append(waiter)
        self._queue.when_done(self, self._end)

    def wake(self) -> None:
        """Call the waiters if the event has happened."""
        if self.done():
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                waiter()

    def forget(self) -> None:
        """Treat the event as if it had happened, because the word may be freed."""
        self._word = 0
