"""The one thread that publishes what is new: of running jobs, and of displayed values.

Worker threads never speak to the notebook.  The pump looks at most 30 times a second, and sends what came since
it last looked.  A job is polled until it is over, and its last look is taken after that, so that the final state is
exact.  A displayed value is looked at only after someone has marked it: without polled jobs and marks, the thread sleeps.
Where no thread can be started, the pump is a source of `host.one_thread`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.native.machine import HAS_THREADS

INTERVAL_SECONDS = 1 / 30
# Looking at a large program may cost a tenth of one core, together with the last look, which packs the whole run.
COST_FACTOR = 13
# What is marked has changed: it is worth a third of one core.
MARKED_FACTOR = 3


class Watched(Protocol):
    """What is looked at: a run, or displayed values.  One thread at a time calls `step`."""

    over: threading.Event
    """Set once there is nothing more to come."""

    def step(self) -> bool:
        """Send what is new; return whether to check again without a mark."""


class Pump:
    """Looks at any number of runs and displays.  Its thread starts with the first, and sleeps while there are none."""

    def __init__(
        self, clock: Callable[[], float] = time.thread_time if HAS_THREADS else time.perf_counter
    ) -> None:
        """`clock` says what a look costs: processor time, as the machine may be busy with something else."""
        self._clock = clock
        self._polled: list[Watched] = []
        self._marked: deque[Watched] = deque()
        self._wake: SimpleQueue[None] = SimpleQueue()
        """Has an item after each mark.  Without a lock of Python's: a destructor that marks may interrupt any line."""
        self._looking, self._starting = threading.Lock(), threading.Lock()
        self._thread: threading.Thread | None = None
        self._due = 0.0
        """When the next look is, without a thread."""

    def watch(self, run: Watched) -> None:
        """Poll `run` until it is over."""
        self.start()
        self.mark(run)

    def start(self) -> None:
        """Start the thread, without which marks have no effect; not in a destructor."""
        if not HAS_THREADS:
            ONE_THREAD.add(self._step_if_due, resolves=False)
            return
        with self._starting:
            if self._thread is None:
                self._thread = start_thread("tfrt-pump", self._work)

    def mark(self, watched: Watched) -> None:
        """Look at `watched` soon, once, however often it is marked until then.  On any thread, in a destructor too."""
        self._marked.append(watched)
        self._wake.put(None)
        if not HAS_THREADS:
            ONE_THREAD.wake(INTERVAL_SECONDS)

    def drain(self, timeout: float) -> None:
        """Return once nothing is watched or marked anymore, or after `timeout` seconds."""
        end = time.monotonic() + timeout
        while self._is_busy() and time.monotonic() < end:
            time.sleep(INTERVAL_SECONDS / 4)
            if not HAS_THREADS:
                self.step()

    def flush(self) -> None:
        """Return once all is sent that was marked before: what the thread is about to send, too."""
        with self._looking:
            is_left = bool(self._marked)
        if is_left:
            self.step()

    def step(self) -> float:
        """Look once at everything that is watched or marked; the seconds until the next look, if there is one."""
        with self._looking:
            polled = {id(one): one for one in self._polled}
            marked: dict[int, Watched] = {}
            while self._marked:
                one = self._marked.popleft()
                if id(one) not in polled:
                    marked[id(one)] = one
            self._polled, pause = [], INTERVAL_SECONDS
            for group, factor in ((polled, COST_FACTOR), (marked, MARKED_FACTOR)):
                before = self._clock()
                self._polled += [one for one in group.values() if _goes_on(one)]
                cost = self._clock() - before
                pause = max(pause, factor * cost) - cost
        return pause

    def _step_if_due(self) -> float | None:
        """Look if it is time: a source of the one thread."""
        if not (self._polled or self._marked):
            return None
        left = self._due - time.monotonic()
        if left <= 0:
            left = self.step()
            self._due = time.monotonic() + left
        return left

    def _is_busy(self) -> bool:
        if HAS_THREADS and self._thread is None:
            return False
        with self._looking:
            return bool(self._polled or self._marked)

    def _work(self) -> None:
        while True:
            if not self._polled:
                self._wake.get()
            while not self._wake.empty():
                self._wake.get()
            time.sleep(self.step())


def _goes_on(run: Watched) -> bool:
    try:
        return run.step()
    except Exception:
        # A closed socket at exit: this board is lost, the others are not.
        logging.getLogger(__name__).exception("a %%tfrt board stopped updating")
        run.over.set()
        return False
