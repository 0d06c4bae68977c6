"""The one thread that looks at the running jobs and feeds their boards.

Worker threads never talk to the notebook.  The pump looks at most 30 times a second, sends what is
new since it last looked, and forgets what came between: the latest value wins.  A job's last look
is taken after the job is over, so that the final state is exact.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tfrt_magics.bridge.snapshot import OVER, Snapshot
from tfrt_magics.bridge.stream import Delta, Keyframe, Sent, next_message

INTERVAL_SECONDS = 1 / 30
# Looking at a large program costs something; it may cost a tenth of one core.
COST_FACTOR = 10


class Source(Protocol):
    """What is looked at: a job."""

    def snapshot(self) -> Snapshot: ...


class Sink(Protocol):
    """Where messages go: a board.  Between `watch` and `end` only the pump's thread calls it."""

    def show(self, message: Keyframe | Delta) -> None: ...
    def end(self, snapshot: Snapshot) -> None:
        """The last call, after the last message."""


@dataclass(eq=False)
class Watch:
    """A source with the sink that shows it.  `over` is set once the pump has let go of both."""

    source: Source
    sink: Sink
    sent: Sent
    over: threading.Event = field(default_factory=threading.Event)

    def step(self, now: float) -> None:
        """Send what is new, and tell the sink when the source is over."""
        snapshot = self.source.snapshot()
        self.sent, message = next_message(self.sent, now, snapshot)
        if message is not None:
            self.sink.show(message)
        if snapshot.status in OVER:
            self.sink.end(snapshot)
            self.over.set()


class Pump:
    """Feeds any number of boards.  Its thread lives only while there is something to watch."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._watches: list[Watch] = []
        self._thread: threading.Thread | None = None

    def watch(self, source: Source, sink: Sink, shown: Snapshot) -> Watch:
        """Bring `sink` from the snapshot `shown`, which it has, to the end of `source`."""
        watch = self.add(source, sink, shown)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="tfrt-pump", daemon=True)
                self._thread.start()
        return watch

    def add(self, source: Source, sink: Sink, shown: Snapshot) -> Watch:
        """Like `watch`, for a caller that calls `step` itself."""
        watch = Watch(source, sink, Sent(shown, self._clock(), shown))
        with self._lock:
            self._watches.append(watch)
        return watch

    def drain(self, timeout: float) -> None:
        """Return once nothing is watched any more, or after `timeout` seconds."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout)

    def step(self) -> float | None:
        """Look at everything once.

        Returns the seconds until the next look, or None when nothing is left to look at.
        """
        with self._lock:
            watches = list(self._watches)
        before = self._clock()
        for watch in watches:
            _step_safely(watch, before)
        cost = self._clock() - before
        with self._lock:
            self._watches = [watch for watch in self._watches if not watch.over.is_set()]
            if not self._watches:
                # Under the lock: whoever adds a watch after this starts a thread of its own.
                self._thread = None
                return None
        return max(INTERVAL_SECONDS, COST_FACTOR * cost) - cost

    def _work(self) -> None:
        while (pause := self.step()) is not None:
            time.sleep(pause)


def _step_safely(watch: Watch, now: float) -> None:
    try:
        watch.step(now)
    except Exception:
        # A closed comm or a socket at exit: this board is lost, the others are not.
        logging.getLogger(__name__).exception("a %%tfrt board stopped updating")
        watch.over.set()
