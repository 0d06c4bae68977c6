"""The only thread that publishes changes to running jobs and displayed values.

Worker threads never send messages to the notebook. Instead, the pump checks the objects that it
watches at most 30 times per second, and sends the changes since its last check. The pump checks a
job until the job is over, and once more afterward, so that the final state is exact. It checks a
displayed value only after another thread has marked the value. If there are no jobs and no marks,
the pump's thread sleeps. Where no thread can be started, the pump is a source of `host.one_thread`.
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
# Checking a large program may take a tenth of one core's time. This includes the last check, which
# packs the whole run.
COST_FACTOR = 13
# Marked objects have changed, so checking them may take a third of one core's time.
MARKED_FACTOR = 3


class Watched(Protocol):
    """An object that the pump watches: a run, or displayed values.

    Only one thread at a time calls `step`.
    """

    over: threading.Event
    """Set once no further changes will come."""

    def step(self) -> bool:
        """Send the changes. Return whether to check this object again even if it is not marked."""


class Pump:
    """Watches any number of runs and displays.

    The pump's thread starts with the first object, and sleeps while there are none.
    """

    def __init__(
        self, clock: Callable[[], float] = time.thread_time if HAS_THREADS else time.perf_counter
    ) -> None:
        """`clock` measures the cost of a check.

        It counts processor time, because other processes may keep the machine busy.
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
        """The time of the next check if there is no thread."""

    def watch(self, run: Watched) -> None:
        """Poll `run` until it is over."""
        self.start()
        self.mark(run)

    def start(self) -> None:
        """Start the thread. Before that, marks have no effect.

        Do not call this in a destructor.
        """
        if not HAS_THREADS:
            ONE_THREAD.add(self._step_if_due, resolves=False, looks_on=True)
            return
        with self._starting:
            if self._thread is None:
                self._thread = start_thread("tfrt-pump", self._work)

    def mark(self, watched: Watched) -> None:
        """Have the pump check `watched` soon.

        If this is called several times before the check, one check suffices for all calls.

        Any thread may call this, even in a destructor.
        """
        # Mark before waking: the thread checks the marks as soon as it wakes up.
        self._marked.append(watched)
        self._wake.put(None)
        if not HAS_THREADS:
            ONE_THREAD.wake(INTERVAL_SECONDS)

    def drain(self, timeout: float) -> None:
        """Return when nothing is watched or marked, or after `timeout` seconds."""
        end = time.monotonic() + timeout
        while self._is_busy() and time.monotonic() < end:
            time.sleep(INTERVAL_SECONDS / 4)
            if not HAS_THREADS:
                self.step()

    def flush(self) -> None:
        """Return after the changes of all marked objects have been sent.

        This includes changes that the pump's thread is sending at the moment.
        """
        with self._looking:
            # A check in progress has already removed its marks. The lock waits for that check.
            is_left = bool(self._marked)
        if is_left:
            self.step()

    def step(self) -> float:
        """Check all watched and marked objects once; return the seconds until the next check."""
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
                # A watched run first arrives as a mark. It is polled from then on, because its
                # `step` returns True.
                self._polled += [one for one in group.values() if _goes_on(one)]
                cost = self._clock() - before
                # The interval includes the check itself.
                pause = max(pause, factor * cost) - cost
        return pause

    def _step_if_due(self) -> float | None:
        """Check the objects if a check is due, and return the seconds until the next one.

        Return None if there is nothing to check. `one_thread` calls this method as a source.
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
            # Empty the queue first, so that a mark during the check causes another check.
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
