"""The threads of a work queue, and their native contexts.

A *native context* is the native core's state of one thread.  Each thread that uses native values of
a queue has a native context.  `thread.context` is the address of the current thread's native
context.  A thread is *busy* while it works for the queue.

Threads start when they are first needed, so an unused queue costs nothing.  A worker is a Python
thread that stays inside native code.  Therefore, a Python kernel already has a thread state, and
needs only the GIL.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.budget import default_budget
from tfrt_runtime.host.interrupts import SLICE_NS
from tfrt_runtime.host.process import NativeProcess, live_values, native_process
from tfrt_runtime.host.queues.queue_names import (
    WorkQueueError,
)
from tfrt_runtime.host.queues.threads import QueueThread, start_thread
from tfrt_runtime.host.structs import WORDS, Context, Pool, Queue, Record, Task, new_words
from tfrt_runtime.native import layouts as at

# While this many blocking kernels wait for a thread, another one fails with an error.
POOL_PLACES = 4096
IDLE_NS = 1_000_000_000
"""How long an idle blocking thread waits for a task before it exits."""
STOP_SECONDS = 5.0
OF_PARENT = "the host was created before this process was forked: create a new host here"


class QueueThreads(ABC):
    """The threads of a queue: workers, blocking threads, and threads that help temporarily."""

    is_worked_here = True
    """Whether a waiting thread may run the queue's tasks."""

    def __init__(self, threads: int, blocking_threads: int, name: str) -> None:
        self.name = name
        self.threads = threads
        self.blocking_threads = blocking_threads
        self.process: NativeProcess = native_process()
        self._take_host = self.process.quick.host_take
        self._leave_host = self.process.quick.host_leave
        self._lock = threading.RLock()
        self._workers: list[threading.Thread] = []
        self._pool_threads: set[threading.Thread] = set()
        self._contexts: list[int] = []
        self._labels: list[str] = []
        self._idle_contexts: list[int] = []
        self._elsewhere: dict[str, list[int]] = {}
        """Idle contexts for `as_thread`, keyed by label."""
        self._stopped = False
        self.has_started = threads == 0
        """Whether all workers are running."""
        self.when_interrupted: Callable[[], None] = lambda: None
        """A function that ends the running work.

        It is called if the user presses Ctrl-C while a stand-in works and the queue has no workers.
        The effect is the same as if the work ran on the waiting thread.
        """
        self.quiescing: set[int] = set()
        """Contexts whose kernel waits only for the queue to become quiescent."""
        self.waiting: set[int] = set()
        """Contexts whose kernel waits while its thread works for the queue."""
        self.resolving: set[int] = set()
        """Addresses of values that Python threads are resolving; each resolution may add work."""
        self.on_resolve: Callable[[int], None] | None = None
        """Called before a Python thread resolves a value, with the value's address."""
        self.native = Queue.new(at.QUEUE_SIZE)
        """The native core's struct QUEUE of this queue."""
        self._pool = Pool.new(at.POOL_CELLS + 16 * POOL_PLACES)
        # There is one deque more than workers: a thread that helps takes the last one
        # (`WorkQueue.helper`).
        self._deques = [new_words(at.DEQUE_SIZE) for _ in range(threads + 1)] if threads else []
        self._table = new_words(8 * max(1, len(self._deques)))
        self.address = self.native.address
        self.pool = self._pool.address
        self._stand_in = None
        self._fill()
        self.thread = QueueThread(_borrowing(weakref.ref(self)), self._idle_contexts, self.native)
        """The queue's record of the calling thread, as a thread-local object."""
        # Native code calls this object to find the calling thread's context. The core holds only
        # its address, so this attribute keeps the object alive.
        self._find = functools.partial(getattr, self.thread, "context")
        self.native.find = id(self._find)
        self.is_of_parent = False
        """Whether the process was forked after the queue was created.

        The queue's threads then belong to the parent process.
        """
        _queues.add(self)
        free = weakref.finalize(self, _free_contexts, self.process, self._contexts, self.thread)
        free.atexit = False  # at exit, the queue's threads may still be running

    def _fill(self) -> None:
        for i, deque in enumerate(self._deques):
            self._table[i] = ctypes.addressof(deque)
        self.native.workers = len(self._deques)
        self.native.deques = ctypes.addressof(self._table)
        self._pool.capacity = POOL_PLACES
        self._pool.limit = self.blocking_threads
        # A place has two words, a sequence number and a task. The sequence number `i` means that
        # place `i` is free for task `i` (`native.queues.blocking_pool`).
        for i in range(POOL_PLACES):
            WORDS[(self.pool + at.POOL_CELLS >> 3) + 2 * i] = i
        # The process outlives the queue, and must not keep it alive.
        start = weakref.WeakMethod(self._start_pool_thread)
        self.process.need_thread[self.pool] = lambda: _call(start)

    @property
    def budget(self) -> int:
        """The memory budget of programs on this queue, in bytes.

        The budget applies to native code and tensors together.
        """
        return self.native.memory_limit or default_budget()

    @budget.setter
    def budget(self, limit: int) -> None:
        self.native.memory_limit = limit

    @property
    def _stand_in(self) -> StandIn | None:
        """The thread that works for the queue while other threads wait with a time limit."""
        return self._present

    @_stand_in.setter
    def _stand_in(self, thread: StandIn | None) -> None:
        self._present = thread
        self.native.aside = thread is not None or not self.is_worked_here

    @property
    def parallelism_level(self) -> int:
        """How many threads can run compute work at the same time."""
        return max(1, self.threads)

    def context(self) -> int:
        """Return the address of this thread's native context."""
        try:
            return self.thread.context
        except AttributeError:
            # A finalizer is running while this thread, further down on its stack, is getting its
            # context.
            return self.thread.introduce()

    @property
    def is_at_work_here(self) -> bool:
        """Whether this thread is running tasks of the queue."""
        return self._is_busy(self.context())

    def _is_busy(self, context: int) -> bool:
        """Return whether this thread, whose context is `context`, is working for the queue."""
        return self.thread.busy > 0 or Context.at(context).epoch & 1 != 0

    @property
    def contexts(self) -> tuple[int, ...]:
        """The native contexts of all threads that have worked for the queue."""
        return tuple(self._contexts)

    @property
    def labels(self) -> list[str]:
        """The names of all threads that have worked for the queue, by context number."""
        return list(self._labels)

    def live_values(self) -> int:
        """Return how many AsyncValues exist; exact only while no thread runs kernels."""
        with self._lock:
            return sum(map(live_values, self._contexts))

    def start(self) -> None:
        """Start the workers, unless they are running.

        Raises:
            TfrtError: if the system cannot start all workers.  The workers that have started do all
                the work.
        """
        # No lock is needed here: a list that another thread is still filling is enough, because
        # each worker searches the whole queue for tasks when it starts.
        if self._workers or self.threads == 0:
            return
        with self._lock:
            if self._workers or self._stopped:
                return
            for number in range(self.threads):
                self._workers.append(start_thread(f"worker {number + 1}", self._work, number))
            self.has_started = True

    def _work(self, number: int) -> None:
        own = self.context()
        context = Context.at(own)
        context.deque, context.worker = self._table[number], number
        self.thread.busy = 1
        self.process.slow.worker_loop(own)
        # When this thread exits, its context becomes idle, and the next thread that borrows it may
        # not be a worker.
        context.deque, context.worker = 0, -1

    def _start_pool_thread(self) -> None:
        """Start a blocking thread, unless there is a thread for each unfinished task.

        No task is left without a thread, because a thread checks the ring twice: before it sleeps,
        and after it has stopped counting as a thread of the pool.
        """
        with self._lock:
            # Read `done` first: an extra thread does no harm.
            unfinished = -self._pool.done + self._pool.tail
            if self._stopped or len(self._pool_threads) >= min(self.blocking_threads, unfinished):
                return
            number = next(self._pool_numbers)
            with contextlib.suppress(TfrtError):  # then the existing threads do the work
                # Hold the lock: if the new thread exits immediately, it waits for the lock.
                self._pool_threads.add(start_thread(f"blocking {number}", self._block))
            self._pool.threads = len(self._pool_threads)
            if self._pool_threads:
                return
        self._block_here()

    def blocks(self, context: int) -> bool:
        """Return whether a blocking kernel is running on a context of the queue.

        A `context` of 0 means no context.
        """
        if context == 0 or Context.at(context).epoch & 1 == 0:
            return False
        record = Context.at(context).record
        return record != 0 and Record.at(record).flags & at.KERNEL_BLOCKING != 0

    def queued_blocking(self) -> list[str]:
        """Return the names of the kernels that are waiting for a blocking thread.

        Call this only while no thread is taking a task.
        """
        names = []
        for number in range(self._pool.head, self._pool.tail):
            place = self.pool + at.POOL_CELLS + 16 * (number % POOL_PLACES)
            task = Task.at(WORDS[place + 8 >> 3])
            if task.function == self.process.words.run_blocking:
                owner, kernel = self.process.owner_of(task.second)
                names.append(owner.kernel_name(kernel))
        return names

    def _block_here(self) -> None:
        """Run the waiting blocking tasks here, because the system cannot start another thread."""
        thread = self.thread
        if thread.blocks_here:
            return  # this method is already running on this thread
        # The native code that called this method may still be using the thread's own context.
        own, context = thread.context, self._borrow_context()
        thread.beneath.append(own)
        thread.blocks_here, thread.busy = True, thread.busy + 1
        thread.become(context)
        try:
            self.process.slow.blocking_loop(context, self.pool, 0)
        finally:
            thread.blocks_here, thread.busy = False, thread.busy - 1
            thread.become(own)
            thread.beneath.pop()
            with self._lock:
                self._idle_contexts.append(context)

    _pool_numbers = itertools.count(1)

    def _block(self) -> None:
        thread = self.thread
        thread.busy = 1
        try:
            self.process.slow.blocking_loop(thread.context, self.pool, IDLE_NS)
        finally:
            with self._lock:
                self._pool_threads.discard(threading.current_thread())
                self._pool.threads = len(self._pool_threads)
            # A task may have arrived after this thread's last check, while the pool still counted
            # this thread.
            if self._pool.tail != self._pool.head:
                self._start_pool_thread()

    def _borrow_context(self) -> int:
        thread = threading.current_thread()
        label = "main" if thread is threading.main_thread() else thread.name
        with self._lock:
            if self._idle_contexts:
                context = self._idle_contexts.pop()
                self._labels[Context.at(context).number] = label
            else:
                context = self._new_context(label)
        Context.at(context).main = label == "main"
        return context

    def _new_context(self, label: str) -> int:
        """Make a context for another thread.  The caller must hold the lock."""
        context = self.process.new_context(self.address, self.pool, len(self._contexts))
        self._contexts.append(context)
        self._labels.append(label)
        return context

    @contextlib.contextmanager
    def as_thread(self, label: str) -> Iterator[None]:
        """Log this thread's events under the name `label`, such as the name of another machine.

        Use this only on a thread that resolves values and runs no kernels.
        """
        thread, own = self.thread, self.context()
        with self._lock:
            idle = self._elsewhere.setdefault(label, [])
            # Simultaneous callers need different contexts: events name a thread by its context's
            # number.
            context = idle.pop() if idle else self._new_context(label)
        thread.become(context)
        try:
            yield
        finally:
            self._hand_over(context)
            thread.become(own)
            with self._lock:
                idle.append(context)

    def _hand_over(self, context: int) -> None:
        """Hand the ready work and the kept tasks of this thread's `context` to the queue."""
        view = Context.at(context)
        if view.ready != view.ready_top or view.pending != 0:
            self.process.slow.hand_over(context)

    def refuse_child(self) -> None:
        """Refuse to work in a child process of the process that created the queue.

        Raises:
            WorkQueueError: in a child process.
        """
        if self.is_of_parent:
            raise WorkQueueError(error(OF_PARENT))

    def _leave_to_parent(self) -> None:
        """Adapt to a fork, in the child process, where the queue's threads do not exist."""
        self.is_of_parent = self._stopped = True
        # Threads of the parent may have held the lock during the fork.
        self._lock = threading.RLock()
        self.native.host = 0
        # Native code then calls Python before it works, and Python refuses (`refuse_child`).
        self.native.aside = 1
        self.process.need_thread.pop(self.pool, None)

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Stop the threads, and wait at most `timeout` seconds in total for them.

        The queue must be empty.  A thread that is running a kernel exits after the kernel returns.
        Any thread may call this; a thread of the queue does not wait for itself.
        """
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            threads = [*self._workers, *self._pool_threads]
            if self._stand_in is not None:
                threads.append(self._stand_in.thread)
        self.process.slow.queue_stop(self.address)
        self.process.slow.pool_stop(self.pool)
        deadline = time.monotonic() + timeout
        for thread in threads:
            if thread is not threading.current_thread():  # a kernel may close its own host
                thread.join(max(0.0, deadline - time.monotonic()))
        self.process.need_thread.pop(self.pool, None)

    @abstractmethod
    def help(
        self,
        word: int,
        timeout: float | None,
        interrupted: Callable[[], bool],
        slice_ns: int = SLICE_NS,
    ) -> bool:
        """Work for the queue on this thread until the word at address `word` is 0.

        `WorkQueue.help` documents the parameters and the result.
        """


_queues: weakref.WeakSet[QueueThreads] = weakref.WeakSet()


def _leave_all_to_parent() -> None:
    for queue in list(_queues):
        queue._leave_to_parent()


os.register_at_fork(after_in_child=_leave_all_to_parent)


def _borrowing(reference: weakref.ref[QueueThreads]) -> Callable[[], int]:
    """Return a function that returns a context of the queue.

    If the queue no longer exists, the returned function returns the process's spare context.
    """

    def borrow() -> int:
        queue = reference()
        return native_process().spare_context() if queue is None else queue._borrow_context()

    return borrow


def _call(reference: weakref.WeakMethod[Callable[[], None]]) -> None:
    """Call a method, if its object still exists."""
    if (method := reference()) is not None:
        method()


class StandIn:
    """A thread that works for a queue while other threads wait with a time limit.

    When a time limit has passed, the waiting thread returns at once, while the stand-in finishes
    the task that it has started.
    """

    def __init__(self, queue: QueueThreads) -> None:
        """Start the thread, which lives until no thread waits.

        The caller must hold the queue's lock.
        """
        self._queue = queue
        self.waiters = ctypes.c_int64(0)
        """The number of waiting threads.  A thread must hold the queue's lock to change it."""
        self.thread = start_thread("stand-in", self._work)

    def _work(self) -> None:
        queue = self._queue
        while True:
            with queue._lock:
                # Exit only with the lock held: a waiting thread finds the stand-in and adds itself
                # to `waiters` in one locked step, so it never waits for a stand-in that is exiting.
                if self.waiters.value == 0:
                    # A kernel that waited on this thread may have made another stand-in
                    # (`WorkQueue._stand_in_for`).
                    if queue._stand_in is self:
                        queue._stand_in = None
                    return
            queue.help(ctypes.addressof(self.waiters), None, lambda: False)


def _free_contexts(process: NativeProcess, contexts: list[int], thread: QueueThread) -> None:
    """Free the contexts of a queue that no longer exists.

    If the queue and some AsyncValues are garbage in the same cycle, the values may be finalized
    later on this thread.  They then use the spare context.
    """
    thread.become(process.spare_context())
    process.free_contexts(contexts)
    contexts.clear()
