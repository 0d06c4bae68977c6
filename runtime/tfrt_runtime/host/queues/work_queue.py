"""Work queues: the threads that run a program.

`s` runs tasks on whichever thread waits; `mstd:N,B` has N threads for compute work, which steal
from each other, and up to B threads for work that blocks.  Threads start when they are first
needed, so a queue that is not used costs nothing.

Each thread that touches native values of a queue has a native context; `thread.context` is the
present one's.  Workers are Python threads that stay inside native code, so that a Python kernel
finds its thread state and needs only the GIL.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.budget import default_budget
from tfrt_runtime.host.interrupts import INTERRUPTS, SLICE_NS, in_slices
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.process import NativeProcess, live_values, native_process
from tfrt_runtime.host.queues.queue_names import (
    WorkQueueError,
    parse_work_queue,
)
from tfrt_runtime.host.queues.threads import QueueThread, start_thread
from tfrt_runtime.host.structs import WORDS, Context, Pool, Queue, Record, Task, new_words
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.machine import HAS_THREADS

POOL_PLACES = 4096
IDLE_NS = 1_000_000_000
"""A blocking thread that has been idle for so long goes away."""
STOP_SECONDS = 5.0
LOOK_NS = 1_000_000
"""How often a thread that works until the queue rests looks whether it does."""
MAX_NESTED_WAITS = 40
"""A kernel that waits may run one that waits, so deep on one thread: each takes a part of its
stack.
"""
TOO_MANY_WAITS = (
    f"kernels that wait run each other more than {MAX_NESTED_WAITS} deep on one thread;"
    " let them return AsyncValues instead"
)
OF_PARENT = (
    "the host was made before this process was forked from another one: make a new host here"
)


class WorkQueue:
    """A queue of `threads` workers, or for 0 threads one that waiting threads run themselves."""

    takes_calls = True
    """Whether a call from outside may start as a task of the queue."""
    is_worked_here = True
    """Whether a thread that waits may work for the queue by itself."""
    is_of_users = False
    """Whether it refers to objects of users, which may refer to its values."""
    text = ""
    """What `HostContext` was given for it, such as `mstd:2`; "" for a queue that has only a
    name.
    """

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
        """Idle contexts of `as_thread`, by label."""
        self._stopped = False
        self.has_started = threads == 0
        """Whether the workers run, if there are any: then `start` has nothing to do."""
        self.when_interrupted: Callable[[], None] = lambda: None
        """Called when the user interrupts a thread in whose place another one works, and there are
        no workers: what runs ends, as it would on the thread that waits."""
        self.quiescing: set[int] = set()
        """Contexts whose kernel only waits for the queue to come to rest."""
        self.waiting: set[int] = set()
        """Contexts whose kernel waits, and lets its thread work for the queue meanwhile."""
        self.resolving: set[int] = set()
        """Addresses of values that threads of Python's are resolving: work may come of it."""
        self.on_resolve: Callable[[int], None] | None = None
        """Called on a thread of Python's with the address of a value that it is about to
        resolve.
        """
        self.native = Queue.new(at.QUEUE_SIZE)
        """The struct of the native core."""
        self._pool = Pool.new(at.POOL_CELLS + 16 * POOL_PLACES)
        self._deques = [new_words(at.DEQUE_SIZE) for _ in range(threads + 1)] if threads else []
        self._table = new_words(8 * max(1, len(self._deques)))
        self.address = self.native.address
        self.pool = self._pool.address
        self._stand_in = None
        self._fill()
        self.thread = QueueThread(_borrowing(weakref.ref(self)), self._idle_contexts, self.native)
        """What the queue knows of the thread that asks."""
        self._find = functools.partial(getattr, self.thread, "context")
        self.native.find = id(self._find)
        self.is_of_parent = False
        """Whether the process was forked since: the threads are those of its parent."""
        _queues.add(self)
        free = weakref.finalize(self, _free_contexts, self.process, self._contexts, self.thread)
        free.atexit = False  # threads of a queue that was not stopped may still run then

    def _fill(self) -> None:
        for i, deque in enumerate(self._deques):
            self._table[i] = ctypes.addressof(deque)
        self.native.workers = len(self._deques)
        self.native.deques = ctypes.addressof(self._table)
        self._pool.capacity = POOL_PLACES
        self._pool.limit = self.blocking_threads
        for i in range(POOL_PLACES):
            WORDS[(self.pool + at.POOL_CELLS >> 3) + 2 * i] = i
        start = weakref.WeakMethod(self._start_pool_thread)
        self.process.need_thread[self.pool] = lambda: _call(start)

    @property
    def budget(self) -> int:
        """What native code and tensors may hold when programs on this queue ask for more, in
        bytes.
        """
        return self.native.memory_limit or default_budget()

    @budget.setter
    def budget(self, limit: int) -> None:
        self.native.memory_limit = limit

    @property
    def _stand_in(self) -> StandIn | None:
        """The thread that works in the place of threads that wait with a time limit."""
        return self._present

    @_stand_in.setter
    def _stand_in(self, thread: StandIn | None) -> None:
        self._present = thread
        self.native.aside = thread is not None or not self.is_worked_here

    @property
    def parallelism_level(self) -> int:
        """How many threads run compute work at once."""
        return max(1, self.threads)

    def context(self) -> int:
        """The native context of this thread."""
        try:
            return self.thread.context
        except AttributeError:
            # A finalizer runs on a thread that the queue gets to know further down on its stack.
            return self.thread.introduce()

    @property
    def is_at_work_here(self) -> bool:
        """Whether this thread runs tasks of the queue at the moment."""
        return self._is_busy(self.context())

    def _is_busy(self, context: int) -> bool:
        """Whether this thread, whose context this is, works for the queue."""
        return self.thread.busy > 0 or Context.at(context).epoch & 1 != 0

    @property
    def contexts(self) -> tuple[int, ...]:
        """The native contexts of all threads that have worked for the queue."""
        return tuple(self._contexts)

    @property
    def labels(self) -> list[str]:
        """The names of all threads that have worked for the queue, by number of their contexts,
        as the board shows them.
        """
        return list(self._labels)

    def live_values(self) -> int:
        """AsyncValues made and not yet destroyed; exact while no thread runs kernels."""
        with self._lock:
            return sum(map(live_values, self._contexts))

    def start(self) -> None:
        """Start the workers, unless they run.

        Raises:
            TfrtError: if the system starts not all of them.  Those that run do the work.
        """
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
        context.deque, context.worker = 0, -1

    def _start_pool_thread(self) -> None:
        """Start a blocking thread, unless there is one for each task that is not done.

        A thread that is on its way to the ring looks there before it sleeps, and one that is on its
        way out looks again when it no longer counts.
        """
        with self._lock:
            unfinished = -self._pool.done  # read first: rather a thread too many
            unfinished += self._pool.tail
            if self._stopped or len(self._pool_threads) >= min(self.blocking_threads, unfinished):
                return
            try:
                # Within the lock, for which a thread that ends at once waits.
                name = f"blocking {next(self._pool_numbers)}"
                self._pool_threads.add(start_thread(name, self._block))
            except TfrtError:
                if self._pool_threads:
                    return  # they do the work
            else:
                self._pool.threads = len(self._pool_threads)
                return
        self._block_here()

    def blocks(self, context: int) -> bool:
        """Whether a blocking kernel runs on a context of the queue; 0 is no context."""
        if context == 0 or Context.at(context).epoch & 1 == 0:
            return False
        record = Context.at(context).record
        return record != 0 and Record.at(record).flags & at.KERNEL_BLOCKING != 0

    def queued_blocking(self) -> list[str]:
        """The names of the kernels that wait for a blocking thread, while none takes a task."""
        names = []
        for number in range(self._pool.head, self._pool.tail):
            place = self.pool + at.POOL_CELLS + 16 * (number % POOL_PLACES)
            task = Task.at(WORDS[place + 8 >> 3])
            if task.function == self.process.words.run_blocking:
                owner, kernel = self.process.owner_of(task.second)
                names.append(owner.kernel_name(kernel))
        return names

    def _block_here(self) -> None:
        """The system starts no thread for the blocking tasks that wait: this one runs them."""
        thread = self.thread
        if thread.blocks_here:
            return  # further down on this stack
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
            # A task may have come after the last look, while this thread still counted.
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
        """A context of one more thread, within the lock."""
        context = self.process.new_context(self.address, self.pool, len(self._contexts))
        self._contexts.append(context)
        self._labels.append(label)
        return context

    @contextlib.contextmanager
    def as_thread(self, label: str) -> Iterator[None]:
        """Within: to the log of events, this thread is one with the name `label`, such as another
        machine's.

        For a thread that resolves values and runs no kernel.
        """
        thread, own = self.thread, self.context()
        with self._lock:
            idle = self._elsewhere.setdefault(label, [])
            # One for each of those that arrive at once; events know a thread by its number.
            context = idle.pop() if idle else self._new_context(label)
        thread.become(context)
        try:
            yield
        finally:
            self._hand_over(context)
            thread.become(own)
            with self._lock:
                idle.append(context)

    def wait(self, word: int, timeout: float | None, interrupted: Callable[[], bool]) -> bool:
        """Wait until the word at address `word` is 0; False when the time is over first.

        This thread works for the queue meanwhile.  Only compiled code and Python kernels of users
        cannot be left half-way.  Where there are kernels of users, workers work in the place of one
        that waits; where there is compiled code, another thread in the place of one that waits with
        a time limit.  Without workers Python kernels run on the thread that waits in any case.

        Signals are seen every few milliseconds.  `interrupted` is asked as often, but not before
        the first of them have passed: it may read the whole queue, which takes as long as a small
        run. When it says so, the wait ends with False.
        """
        if WORDS[word >> 3] == 0:
            return True
        self.refuse_child()
        if timeout is None and self._stand_in is None and not self._leaves_to_workers(None):
            return self.help(word, None, interrupted)
        try:
            with INTERRUPTS:  # before another thread begins
                return self._wait_beside(word, timeout, interrupted)
        except KeyboardInterrupt:
            if self.threads == 0:
                self.when_interrupted()
            raise

    def _wait_beside(
        self, word: int, timeout: float | None, interrupted: Callable[[], bool]
    ) -> bool:
        """Wait while workers or a stand-in work, if they have to."""
        own = self.context()
        watch_until = self.process.slow.watch_until

        def watch(end: int) -> int:
            self._hand_over(own)  # of what became ready when the run was started, or looked at
            return watch_until(own, word, end)

        if self._leaves_to_workers(timeout):
            self.begin()
            self.begin_calls()
            return in_slices(watch, timeout, interrupted)
        with self._lock:
            stand_in = self._stand_in_for(timeout)
            if stand_in is not None:
                stand_in.waiters.value += 1
        if stand_in is None:
            return self.help(word, timeout, interrupted)
        try:
            return in_slices(watch, timeout, interrupted)
        finally:
            with self._lock:
                stand_in.waiters.value -= 1

    def _leaves_to_workers(self, timeout: float | None) -> bool:
        """Whether a wait of this thread may begin no Python kernel of users, and there are workers.

        A kernel that waits runs others: else all workers might wait.
        """
        if timeout == 0 or not HOOKS.has_user_kernels or self.threads == 0 or self._stopped:
            return False
        return not self._is_busy(self.context())

    def _stand_in_for(self, timeout: float | None) -> StandIn | None:
        """The thread that works in the place of this one, within the lock; None if this one
        does.
        """
        present = self._stand_in
        if present is not None and present.thread is threading.current_thread():
            present = None  # it runs the kernel that waits
            if timeout is None:
                return None
        if timeout is None:
            # Without workers one thing runs at a time.
            return present if self.threads == 0 else None
        if timeout <= 0 or self.native.async_ == 0 or not HAS_THREADS:
            return None
        if present is None:
            present = self._stand_in = StandIn(self)
        return present

    @contextlib.contextmanager
    def worked_for(self) -> Iterator[None]:
        """Within: the queue runs what it has, without workers on a thread of its own."""
        if self.threads:
            self.begin_calls()
            yield
            return
        if not HAS_THREADS:
            ONE_THREAD.add(self._work_a_little)
            try:
                yield
            finally:
                ONE_THREAD.remove(self._work_a_little)
            return
        with self._lock:
            stand_in = self._stand_in = self._stand_in or StandIn(self)
            stand_in.waiters.value += 1
        self._hand_over(self.context())
        try:
            yield
        finally:
            with self._lock:
                stand_in.waiters.value -= 1

    def _work_a_little(self) -> float | None:
        """Run what the queue has: a source of the one thread, while code awaits a value of it."""
        self.work_until(lambda: False, 0.0 if self._is_busy(self.context()) else 0.001)
        return 0.005

    def work_until(self, is_over: Callable[[], bool], timeout: float | None = None) -> bool:
        """Work for the queue on this thread until `is_over()`; False when the time is over first.

        It is asked every millisecond.  Tasks that this thread keeps count as work of the queue:
        they go to other threads at the end only, as there may be millions.
        """
        over = is_over()

        def ask() -> bool:
            nonlocal over
            over = is_over()
            return over

        if not over:
            forever = ctypes.c_int64(1)
            self.help(ctypes.addressof(forever), timeout, ask, LOOK_NS)
        return over

    def help(
        self,
        word: int,
        timeout: float | None,
        interrupted: Callable[[], bool],
        slice_ns: int = SLICE_NS,
    ) -> bool:
        """As `wait`, but this thread works for the queue in any case.

        What it has begun when the time is over it ends first.  `interrupted` is asked every
        `slice_ns`.
        """
        help_until = self.process.slow.help_until
        own = self.context()
        with INTERRUPTS:
            context, has_deque = self._begin_help(own)
            try:
                return in_slices(
                    lambda end: help_until(context, word, end), timeout, interrupted, slice_ns
                )
            finally:
                self._end_help(own, context, has_deque)

    def helper(self) -> AbstractContextManager[int]:
        """A context that may run kernels on this thread, with the host's deque if it is free.

        A thread that already runs kernels (a Python kernel that waits) gets another context: the
        frame of its own is in use.  What is ready on its own goes where others find it.
        """
        return _Helper(self)

    def _begin_help(self, own: int) -> tuple[int, bool]:
        """A context for a helper on a thread with context `own`; whether it got the host's deque.

        Raises:
            WorkQueueError: if kernels that wait have run each other on this thread too deep for its
                stack.
        """
        thread = self.thread
        if thread.busy > MAX_NESTED_WAITS:
            raise WorkQueueError(error(TOO_MANY_WAITS))
        is_busy = self._is_busy(own)
        if is_busy:
            self.process.slow.hand_over(own)
            thread.beneath.append(own)
            self.waiting.add(own)
        context = self._borrow_context() if is_busy else own
        has_deque = bool(self._deques) and self._take_host(self.address) != 0
        view = Context.at(context)
        if has_deque:
            view.deque = self._table[self.threads]
        view.worker = self.threads
        thread.busy += 1
        thread.become(context)
        return context, has_deque

    def _end_help(self, own: int, context: int, has_deque: bool) -> None:
        """The helper is done: what it has left others may take, and its thread goes on as it
        was.
        """
        thread = self.thread
        self._hand_over(context)
        thread.busy -= 1
        thread.become(own)
        view = Context.at(context)
        view.worker = -1
        if has_deque:
            view.deque = 0
            self._leave_host(self.address)
        if context != own:
            thread.beneath.pop()
            self.waiting.discard(own)
            with self._lock:
                self._idle_contexts.append(context)

    def begin(self) -> None:
        """Start the workers, and give them what is ready on this thread."""
        self.start()
        self._hand_over(self.context())

    def begin_calls(self) -> None:
        """Let a worker begin with the calls that were started: this thread does not wait for
        them.
        """
        if self.threads:
            self.process.quick.begin_started(self.address)

    def _hand_over(self, context: int) -> None:
        """Let the queue have what is ready on a context of this thread, and the tasks that it
        keeps.
        """
        view = Context.at(context)
        if view.ready != view.ready_top or view.pending != 0:
            self.process.slow.hand_over(context)

    def hand_over(self) -> None:
        """Let the queue run what became ready on this thread, unless the thread runs it itself."""
        context = self.context()
        if not self._is_busy(context):
            self.process.slow.hand_over(context)

    def taken_future(
        self, future: object, type_text: str, refuse: Callable[..., Any], *, stays: bool
    ) -> Any:
        """The AsyncValue of a future that this queue's kernels take as it is; None for other
        futures.

        With `stays` they alone take it.
        """
        return None

    def adopt(self, request: Any, value: Any) -> None:
        """A run of the queue has `value`, which `taken_future` may have made, as an argument."""

    def has_outside_tasks(self) -> bool:
        """Whether another queue has tasks of this one, to run them later."""
        return False

    def refuse_child(self) -> None:
        """
        Raises:
            WorkQueueError: in a process that was forked after the queue was made.
        """
        if self.is_of_parent:
            raise WorkQueueError(error(OF_PARENT))

    def _leave_to_parent(self) -> None:
        """The process was forked, and this is the child: no thread of the queue is in it."""
        self.is_of_parent = self._stopped = True
        # Threads of the parent may have held these at that moment.
        self._lock = threading.RLock()
        self.native.host = 0
        self.native.aside = 1
        self.process.need_thread.pop(self.pool, None)

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """End the threads, and wait for them for at most `timeout` seconds in all.

        Nothing may be queued.  A thread that still runs a kernel ends after it.  Any thread may
        call this, those of the queue included: they do not wait for themselves.
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


_queues: weakref.WeakSet[WorkQueue] = weakref.WeakSet()


def _leave_all_to_parent() -> None:
    for queue in list(_queues):
        queue._leave_to_parent()


os.register_at_fork(after_in_child=_leave_all_to_parent)


def _borrowing(reference: weakref.ref[WorkQueue]) -> Callable[[], int]:
    """What gives a thread a context of a queue; the spare one when the queue is gone."""

    def borrow() -> int:
        queue = reference()
        return native_process().spare_context() if queue is None else queue._borrow_context()

    return borrow


def _call(reference: weakref.WeakMethod[Callable[[], None]]) -> None:
    """Call a method, if its object is alive."""
    if (method := reference()) is not None:
        method()


class StandIn:
    """A thread that works for a queue in the place of threads that wait with a time limit.

    When their time is over it ends what it has begun, and nothing else.
    """

    def __init__(self, queue: WorkQueue) -> None:
        """Start the thread, within the queue's lock.  It lives until nothing waits."""
        self._queue = queue
        self.waiters = ctypes.c_int64(0)
        """How many threads wait meanwhile; changed within the queue's lock."""
        self.thread = start_thread("stand-in", self._work)

    def _work(self) -> None:
        queue = self._queue
        while True:
            with queue._lock:
                if self.waiters.value == 0:
                    if queue._stand_in is self:
                        queue._stand_in = None
                    return
            queue.help(ctypes.addressof(self.waiters), None, lambda: False)


class _Helper:
    """See `WorkQueue.helper`.  A class, as a generator would take as long as a small run."""

    __slots__ = ("_context", "_has_deque", "_own", "_queue")

    def __init__(self, queue: WorkQueue) -> None:
        self._queue = queue

    def __enter__(self) -> int:
        self._own = self._queue.context()
        self._context, self._has_deque = self._queue._begin_help(self._own)
        return self._context

    def __exit__(self, *_: object) -> None:
        self._queue._end_help(self._own, self._context, self._has_deque)


def _free_contexts(process: NativeProcess, contexts: list[int], thread: QueueThread) -> None:
    """The queue is gone, and so are its threads and everything that holds it.

    If all that is garbage of one cycle, AsyncValues may be finalized after the queue, on this
    thread: they find the spare context.
    """
    thread.become(process.spare_context())
    process.free_contexts(contexts)
    contexts.clear()


def make_work_queue(text: str) -> WorkQueue:
    """The queue that a description asks for.

    Raises:
        WorkQueueError: if the description is wrong.
    """
    threads, blocking = parse_work_queue(text)
    if threads and not HAS_THREADS:
        if text != "mstd":  # the default, which is as many threads as there are
            missing = "a page has no other threads: its kernels run one after the other, as on 's'"
            warnings.warn(f"work queue '{text}': {missing}", RuntimeWarning, stacklevel=3)
        threads = 0
    name = f"Multi-threaded C++ work queue ({threads} threads, {blocking} blocking threads)"
    queue = WorkQueue(threads, blocking, name if threads else "single-threaded")
    queue.text = text
    return queue
