"""Work queues: the threads that run programs, and how a thread waits for them.

The queue `s` has no workers: the waiting thread runs the tasks.  The queue `mstd:N,B` has N
workers, which run compute work and steal tasks from each other, and up to B threads for blocking
work.  The threads are in `queue_threads`.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from tfrt_runtime.diagnostics import error
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.interrupts import INTERRUPTS, SLICE_NS, in_slices
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.queues.queue_names import WorkQueueError, parse_work_queue
from tfrt_runtime.host.queues.queue_threads import QueueThreads, StandIn
from tfrt_runtime.host.structs import WORDS, Context
from tfrt_runtime.native.machine import HAS_THREADS

LOOK_NS = 1_000_000
"""How often a thread checks the queue while it waits for the queue to become quiescent."""
MAX_NESTED_WAITS = 40
"""Maximum number of nested waiting kernels on one thread.  Each uses part of the stack."""
TOO_MANY_WAITS = (
    f"waiting kernels run one another more than {MAX_NESTED_WAITS} deep on one thread;"
    " let them return AsyncValues instead"
)


class WorkQueue(QueueThreads):
    """A queue with `threads` workers; with 0 workers, waiting threads run its tasks."""

    takes_calls = True
    """Whether a root call may start as a task of this queue."""
    is_of_users = False
    """Whether the queue refers to users' objects, which may refer to the queue's values."""
    _awaiting = 0
    """How many `await` expressions are waiting for the queue's values on a web page.

    While any are, the queue also runs between cells.
    """
    text = ""
    """The argument of `HostContext` that created the queue, such as `mstd:2`, or ""."""

    def wait(self, word: int, timeout: float | None, interrupted: Callable[[], bool]) -> bool:
        """Wait until the word at address `word` is 0; return False if `timeout` seconds pass first.

        In the meantime, this thread runs the queue's tasks, except in two cases.  If users' kernels
        are loaded, workers run the tasks.  If compiled code is loaded and the wait has a time
        limit, a stand-in thread runs them.  The reason for both exceptions is that this thread
        could not abandon such work halfway.  Without workers, Python kernels always run on the
        waiting thread.

        Signals are handled every few milliseconds.  `interrupted` is called equally often; if it
        returns True, the wait returns False.  It is not called during the first few milliseconds,
        because it may read the whole queue, and that takes as long as a small run.
        """
        if WORDS[word >> 3] == 0:
            return True
        self.refuse_child()
        if timeout is None and self._stand_in is None and not self._leaves_to_workers(None):
            return self.help(word, None, interrupted)
        try:
            with INTERRUPTS:  # before a stand-in starts
                return self._wait_beside(word, timeout, interrupted)
        except KeyboardInterrupt:
            if self.threads == 0:
                self.when_interrupted()
            raise

    def _wait_beside(
        self, word: int, timeout: float | None, interrupted: Callable[[], bool]
    ) -> bool:
        """Wait as `wait` does, but let other threads run the tasks if this thread must not.

        The other threads are the workers or a stand-in.
        """
        own = self.context()
        watch_until = self.process.slow.watch_until

        def watch(end: int) -> int:
            self._hand_over(own)  # starting a run may have made work ready here
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
        """Return whether this waiting thread must leave users' Python kernels to the workers.

        If this thread is waiting inside a kernel, it runs other kernels itself, because all workers
        may be waiting, too.
        """
        # After `stop`, the workers have exited, so the waiting thread must do their work.
        if timeout == 0 or not HOOKS.has_user_kernels or self.threads == 0 or self._stopped:
            return False
        return not self._is_busy(self.context())

    def _stand_in_for(self, timeout: float | None) -> StandIn | None:
        """Return the stand-in that must work instead of this thread, or None.

        The caller must hold the lock.
        """
        present = self._stand_in
        if present is not None and present.thread is threading.current_thread():
            present = None  # the waiting kernel runs on the stand-in itself
            if timeout is None:
                return None
        if timeout is None:
            # Without workers, only one kernel runs at a time.
            return present if self.threads == 0 else None
        if timeout <= 0 or self.native.async_ == 0 or not HAS_THREADS:
            return None
        if present is None:
            present = self._stand_in = StandIn(self)
        return present

    @contextlib.contextmanager
    def worked_for(self) -> Iterator[None]:
        """Let the queue run its tasks inside the block; without workers, on a separate thread."""
        if self.threads:
            self.begin()
            self.begin_calls()
            yield
            return
        if not HAS_THREADS:
            self._awaiting += 1
            ONE_THREAD.add(self._work_a_little)
            try:
                yield
            finally:
                self._awaiting -= 1
                if self._awaiting == 0:
                    ONE_THREAD.remove(self._work_a_little)
            return
        with self._lock:
            stand_in = self._stand_in = self._stand_in or StandIn(self)
            stand_in.waiters.value += 1
        # The stand-in cannot take work that is ready on this thread.
        self._hand_over(self.context())
        try:
            yield
        finally:
            with self._lock:
                stand_in.waiters.value -= 1

    def _work_a_little(self) -> float | None:
        """Run the queue's tasks while code awaits its values; a source of `one_thread`."""
        self.work_until(lambda: False, 0.0 if self._is_busy(self.context()) else 0.001)
        return 0.005

    def work_until(self, is_over: Callable[[], bool], timeout: float | None = None) -> bool:
        """Work for the queue on this thread until `is_over()`.

        Return False if `timeout` seconds pass first.  `is_over` is called every millisecond.  Tasks
        that this thread keeps for itself count as the queue's work.  They are passed to other
        threads only at the end, because there may be millions.
        """
        over = is_over()

        def ask() -> bool:
            nonlocal over
            over = is_over()
            return over

        if not over:
            # This word never becomes 0, so only `ask` and the time limit end the wait.
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
        """Wait as `wait` does, but always run the queue's tasks on this thread.

        If the time passes during a task, the task is finished first.  `interrupted` is called every
        `slice_ns` nanoseconds.
        """
        help_until = self.process.slow.help_until
        with INTERRUPTS, self.helper() as context:
            return in_slices(
                lambda end: help_until(context, word, end), timeout, interrupted, slice_ns
            )

    def helper(self) -> AbstractContextManager[int]:
        """Return a context manager for running kernels on this thread.

        Its value is a native context.  In the `with` block, the thread has the queue's deque for
        threads that are not workers, if no other thread has it.

        If a waiting kernel is already running on this thread, the value is another context, because
        the kernel uses the thread's own.  The ready work on the kernel's context is shared with
        other threads.
        """
        return _Helper(self)

    def _begin_help(self, own: int) -> tuple[int, bool]:
        """Start helping, on a thread with context `own`.

        Return the context to use, and whether the thread got the deque.

        Raises:
            WorkQueueError: if waiting kernels are nested too deeply for this thread's stack.
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
        """Stop helping: share the remaining tasks, and restore the thread's state."""
        thread = self.thread
        self._hand_over(context)
        thread.busy -= 1
        thread.become(own)
        view = Context.at(context)
        view.worker = -1
        if has_deque:
            view.deque = 0
            # Do this after clearing `deque`: a deque has only one owner, and another thread may now
            # become it.
            self._leave_host(self.address)
        if context != own:
            thread.beneath.pop()
            self.waiting.discard(own)
            with self._lock:
                self._idle_contexts.append(context)

    def begin(self) -> None:
        """Start the workers, and hand this thread's ready work to them."""
        self.start()
        self._hand_over(self.context())

    def begin_calls(self) -> None:
        """Let a worker start the waiting calls, because this thread does not wait for them."""
        if self.threads:
            self.process.quick.begin_started(self.address)

    def hand_over(self) -> None:
        """Hand this thread's ready work to the queue.

        Do nothing on a thread that is working for the queue.
        """
        context = self.context()
        if not self._is_busy(context):
            self.process.slow.hand_over(context)

    def taken_future(
        self, future: object, type_text: str, refuse: Callable[..., Any], *, stays: bool
    ) -> Any:
        """Return the AsyncValue for a future that this queue's kernels accept as it is, or None.

        With `stays`, only those kernels accept the future.
        """
        return None

    def adopt(self, request: Any, value: Any) -> None:
        """Record that a run of the queue has the argument `value`, a result of `taken_future`."""

    def has_outside_tasks(self) -> bool:
        """Return whether a user's queue holds tasks of this queue that have not run."""
        return False


class _Helper:
    """The context manager of `WorkQueue.helper`.

    This is a class because a generator would take as long as a small run.
    """

    __slots__ = ("_context", "_has_deque", "_own", "_queue")

    def __init__(self, queue: WorkQueue) -> None:
        self._queue = queue

    def __enter__(self) -> int:
        self._own = self._queue.context()
        self._context, self._has_deque = self._queue._begin_help(self._own)
        return self._context

    def __exit__(self, *_: object) -> None:
        self._queue._end_help(self._own, self._context, self._has_deque)


def make_work_queue(text: str) -> WorkQueue:
    """Create the work queue with the name `text`.

    Raises:
        WorkQueueError: if the name is invalid.
    """
    threads, blocking = parse_work_queue(text)
    if threads and not HAS_THREADS:
        if text != "mstd":  # the default: as many threads as the machine can run simultaneously
            missing = "a page has no other threads: its kernels run one after the other, as on 's'"
            warnings.warn(f"work queue '{text}': {missing}", RuntimeWarning, stacklevel=3)
        threads = 0
    name = f"Multi-threaded C++ work queue ({threads} threads, {blocking} blocking threads)"
    queue = WorkQueue(threads, blocking, name if threads else "single-threaded")
    queue.text = text
    return queue
