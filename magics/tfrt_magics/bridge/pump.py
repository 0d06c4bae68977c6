"""The only thread that publishes changes of running jobs and of displayed values.

Worker threads never send messages to the notebook.  The pump looks at the objects that it watches
at most 30 times per second, and sends the changes since its last look.  It polls a job until the
job is over, and once more after that, so that the final state is exact.  It looks at a displayed
value only after the value has been marked.  If there are no polled jobs and no marks, the thread
sleeps.  Where no thread can be started, the pump is a source of `host.one_thread`.
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
# Looks at a large program may take a tenth of one core's time. This includes the last look, which
# packs the whole run.
COST_FACTOR = 13
# Marked objects have changed, so looks at them may take a third of one core's time.
MARKED_FACTOR = 3


class Watched(Protocol):
    """An object that the pump watches: a run, or displayed values.

    Only one thread at a time calls `step`.
    """

    over: threading.Event
    """Set once no further changes will come."""

    def step(self) -> bool:
        """Send the changes; return whether to check again without a mark."""


class Pump:
    """Watches any number of runs and displays.

    Its thread starts with the first of these, and sleeps while there are none.
    """

    def __init__(
        self, clock: Callable[[], float] = time.thread_time if HAS_THREADS else time.perf_counter
    ) -> None:
        """`clock` measures the cost of a look as processor time, because the machine may be busy
        with other work.
        """
        self._clock = clock
        self._polled: list[Watched] = []
        self._marked: deque[Watched] = deque()
        self._wake: SimpleQueue[None] = SimpleQueue()
        """Gets an item for each mark. It uses no Python lock, because a destructor that marks an
        object may run at any line.
        """
        self._looking, self._starting = threading.Lock(), threading.Lock()
        self._thread: threading.Thread | None = None
        self._due = 0.0
        """The time of the next look if there is no thread."""

    def watch(self, run: Watched) -> None:
        """Poll `run` until it is over."""
        self.start()
        self.mark(run)

    def start(self) -> None:
        """Start the thread, without which marks have no effect.

        Do not call this in a destructor.
        """
        if not HAS_THREADS:
            ONE_THREAD.add(self._step_if_due, resolves=False, looks_on=True)
            return
        with self._starting:
            if self._thread is None:
                self._thread = start_thread("tfrt-pump", self._work)

    def mark(self, watched: Watched) -> None:
        """Look at `watched` soon; several marks before a look count as one.

        Any thread may call this, even in a destructor.
        """
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
        """Return once the changes of all marked objects have been sent, including those that the
        thread is about to send.
        """
        with self._looking:
            is_left = bool(self._marked)
        if is_left:
            self.step()

    def step(self) -> float:
        """Look once at all watched and marked objects; return the seconds until the next look, if
        any."""
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
        """Look if it is time to, as a source of `one_thread`; return the seconds until the next
        look.
        """
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
        # At exit, a socket may already be closed; only this board is lost.
        logging.getLogger(__name__).exception("a %%tfrt board stopped updating")
        run.over.set()
        return False
