"""Record the history of a watched run's calls on a Dask cluster.

A history is a list of moments: when the call was sent, queued, running, lost with its worker, and
back.  Dask's scheduler and workers record the history of each task.  This module requests the
histories from time to time during the run, without blocking a thread, and once more after the run.
"""

from __future__ import annotations

import contextlib
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from tfrt_runtime.host.tracing.events import Moments
from tfrt_runtime.kernels.frame import KernelFrame

if TYPE_CHECKING:
    from concurrent.futures import Future

SECONDS_TO_TELL = 2
"""How many seconds to wait for a cluster's report on a run's calls."""
MOST_ASKED = 1_000
"""Maximum number of calls whose history is requested while they are running."""
_TOLD = {
    ("compute-task", "released"): "queued",
    ("ready", "executing"): "running",
    ("executing", "memory"): "back",
    ("executing", "error"): "back",
}


def story_of(frame: KernelFrame, client: Any, kernel: int, future: Any) -> Moments:
    """Return the list of moments of a call of `kernel` in a watched run.

    The first moment is `sent`.
    """
    make = partial(_Stories, client)
    stories = frame.resources.get_or_create("remote stories", _Stories, make)
    assert frame.request.watched is not None
    frame.request.watched.remote = stories.told
    return stories.begin(kernel, future)


class _Stories:
    """Collects what happens to a watched run's calls on the cluster, and when."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._calls: dict[str, tuple[int, Moments]] = {}
        self._told: dict[str, Moments] = {}
        self._asking: Future[list[Any]] | None = None

    def begin(self, kernel: int, future: Any) -> Moments:
        """Record that a call of a kernel is being sent now.

        Return the call's list of moments.  The caller appends the moment of the result's arrival.
        """
        moments: Moments = [(time.monotonic_ns(), "sent", "")]
        self._calls[str(future.key)] = kernel, moments
        return moments

    def told(self, *, waits: bool = False) -> list[tuple[int, Moments]]:
        """Return the kernel and the moments of each call so far, in the order of the calls.

        With `waits`, ask the cluster now; otherwise, use its last report.

        The clocks of other machines may differ from this machine's clock.  The first and the last
        moment are from this machine, so moments from other machines are moved between them.  If the
        cluster does not report on a call, only the call's first and last moments are known.
        """
        calls = dict(self._calls)
        with contextlib.suppress(Exception):  # the cluster may be closed or busy
            ask: Any = self._client
            if waits:
                self._take(
                    ask.sync(
                        ask._story, *calls, on_error="ignore", callback_timeout=SECONDS_TO_TELL
                    )
                )
            elif self._asking is None or self._asking.done():
                before, self._asking = self._asking, None
                if before is not None:
                    self._take(before.result())
                # A call's second moment is the arrival of its result.
                going_on = [key for key, (_, moments) in calls.items() if len(moments) == 1]
                if going_on:
                    import asyncio  # importing it takes 20 ms, but a client has already done so

                    story = ask._story(*going_on[:MOST_ASKED], on_error="ignore")
                    loop = ask.loop.asyncio_loop
                    self._asking = asyncio.run_coroutine_threadsafe(story, loop)
        return [
            (kernel, sorted([*moments, *_between(moments, self._told.get(key, []))]))
            for key, (kernel, moments) in calls.items()
        ]

    def _take(self, found: list[Any]) -> None:
        # The cluster reports times of the wall clock.
        late = time.time_ns() - time.monotonic_ns()
        told: dict[str, Moments] = {}
        for where, key, *rest in found:
            words = tuple(rest[:2])
            if key in self._calls and (what := _moment_of(where, words, str(rest[-2]))):
                at = int(1e9 * rest[-1]) - late
                told.setdefault(key, []).append((at, what, "" if where == "scheduler" else where))
        # Keep the records of calls that have returned: if a worker is lost later, its own records
        # are lost with it.
        over = {key: known for key, known in self._told.items() if "back" in (m[1] for m in known)}
        self._told |= told | over


def _moment_of(where: str, words: tuple[Any, ...], cause: str) -> str:
    """Return what a line of a task's history means, or "" if it means nothing here."""
    if where != "scheduler":
        return _TOLD.get(words, "")
    is_lost = cause.startswith("handle-worker-cleanup") and words[1:] == ("released",)
    return "lost" if is_lost else ""


def _between(ends: Moments, told: Moments) -> Moments:
    """Move the moments from other machines into the time between sending and return."""
    first, last = ends[0][0], ends[-1][0] if len(ends) > 1 else time.monotonic_ns()
    return [(min(max(at, first), last), what, worker) for at, what, worker in told]
