"""The one thread that polls the running jobs and publishes what is new.

Worker threads never speak to the notebook.  The pump polls at most 30 times a second and sends what came since
it last looked.  A job's last look is taken after the job is over, so that the final state is exact.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from tfrt_runtime.host.queues.threads import start_thread

INTERVAL_SECONDS = 1 / 30
# Looking at a large program may cost a tenth of one core, together with the last look, which packs the whole run.
COST_FACTOR = 13


class Watched(Protocol):
    """What is looked at: a run.  Only the pump's thread calls `step`."""

    over: threading.Event
    """Set once there is nothing more to come."""

    def step(self) -> bool:
        """Send what is new; whether there will be more."""


class Pump:
    """Polls any number of runs.  Its thread lives only while there is something to watch."""

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        """`clock` says what a look costs: processor time, as the machine may be busy with something else."""
        self._clock = clock
        self._lock = threading.Lock()
        self._watched: list[Watched] = []
        self._thread: threading.Thread | None = None

    def watch(self, run: Watched) -> None:
        """Poll `run` until it is over."""
        self.add(run)
        with self._lock:
            if self._thread is None:
                self._thread = start_thread("tfrt-pump", self._work)

    def add(self, run: Watched) -> None:
        """Like `watch`, for a caller that calls `step` itself."""
        with self._lock:
            self._watched.append(run)

    def drain(self, timeout: float) -> None:
        """Return once nothing is watched any more, or after `timeout` seconds."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout)

    def step(self) -> float | None:
        """Poll everything once.

        Returns the seconds until the next poll, or None when nothing is left to poll.
        """
        with self._lock:
            watched = list(self._watched)
        before = self._clock()
        ended = {id(run) for run in watched if not _goes_on(run)}
        cost = self._clock() - before
        with self._lock:
            self._watched = [run for run in self._watched if id(run) not in ended]
            if not self._watched:
                # Under the lock: what is added after this starts a thread of its own.
                self._thread = None
                return None
        return max(INTERVAL_SECONDS, COST_FACTOR * cost) - cost

    def _work(self) -> None:
        while (pause := self.step()) is not None:
            time.sleep(pause)


def _goes_on(run: Watched) -> bool:
    try:
        return run.step()
    except Exception:
        # A closed socket at exit: this board is lost, the others are not.
        logging.getLogger(__name__).exception("a %%tfrt board stopped updating")
        run.over.set()
        return False
