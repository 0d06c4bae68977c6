"""Retries, time limits, and limits on concurrent calls for users' kernels that are not coroutines.

`event_loop` applies the same policies to `async def` kernels.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from functools import partial

from tfrt_runtime.diagnostics import FOREVER, refuse
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.queues.threads import run_apart
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.frame import KernelFrame, start_results
from tfrt_runtime.kernels.registry import BY_HAND
from tfrt_runtime.kernels.users.outcomes import settle, settle_failed
from tfrt_runtime.kernels.users.retries import Attempts, Policy

ONCE = Policy()
"""The policy of a single attempt without a time limit."""


def with_policy(
    name: str,
    function: Callable[..., object],
    policy: Policy,
    *,
    blocking: bool,
    has_frame: bool,
) -> Callable[..., object]:
    """Return a function that applies the policy to calls of `function`.

    The returned function takes the frame and the arguments of `function`.

    Raises:
        TfrtError: if the policy has a timeout, deadline, or delay but `blocking` is false, because
            such calls would occupy a worker.
    """
    for option in ("timeout", "deadline", "delay", "jitter"):
        if getattr(policy, option) and not blocking:
            is_pause = option in ("delay", "jitter")
            why = "would block its worker in the meantime" if is_pause else "cannot be stopped"
            refuse(
                f"{option}= of kernel '{name}': a plain kernel {why};"
                " use blocking=True or an 'async def' function"
            )

    def attempted(frame: KernelFrame, given: tuple[object, ...]) -> object:
        attempts = Attempts(name, policy)
        call = partial(_timed, name, function, attempts, given)
        return _repeated(call, attempts, partial(_sleep, frame), lambda: frame.is_cancelled)

    def start(frame: KernelFrame, *values: object) -> object:
        given = (frame, *values) if has_frame else values
        if policy.limit is None:
            return attempted(frame, given)
        gate = frame.host.shared_context(Gates).of(function, policy.limit, blocking=blocking)
        return gate.run(frame, attempted, (frame, given))

    return start


def _sleep(frame: KernelFrame, seconds: float) -> None:
    """Sleep for a number of seconds, or until the run is cancelled."""
    woken = threading.Event()
    frame.request.call_when_cancelled(woken, woken.set)
    woken.wait(seconds)
    frame.request.forget_when_cancelled(woken)


def attempted_here(
    name: str, function: Callable[..., object], policy: Policy
) -> Callable[..., object]:
    """Return a function that calls `function` and retries failed calls as the policy allows.

    It makes all attempts on the thread that calls it, and sleeps between them.
    """

    def call(*values: object, **keywords: object) -> object:
        return _repeated(partial(function, *values, **keywords), Attempts(name, policy), time.sleep)

    return call


def _repeated(
    call: Callable[[], object],
    attempts: Attempts,
    sleep: Callable[[float], None],
    is_over: Callable[[], bool] = bool,
) -> object:
    """Return the result of the first attempt that does not fail.

    Raises:
        Exception: the last attempt's exception, if all attempts failed.
    """
    while True:
        try:
            return call()
        except Exception as problem:
            pause = attempts.pause_after(problem)
            if pause is None or is_over():
                raise
        if pause:
            sleep(pause)


def _timed(
    name: str, function: Callable[..., object], attempts: Attempts, given: tuple[object, ...]
) -> object:
    """Call `function` within the seconds that `attempts` allows, and return its result.

    With a limit, the function runs on a separate thread, which may keep running after the limit.

    Raises:
        TimeoutError: if the call takes longer than the limit.
    """
    seconds = attempts.seconds
    if seconds is None:
        return function(*given)
    outcome: list[tuple[object, BaseException | None]] = []
    ended = threading.Event()

    def run() -> None:
        try:
            outcome.append((function(*given), None))
        except BaseException as problem:  # noqa: BLE001 - the caller raises it
            outcome.append((None, problem))
        ended.set()

    begun = time.monotonic()
    run_apart(f"kernel {name}", partial(copy_context().run, run))
    # Where no thread can be started, the call has already finished, and may have exceeded its
    # limit.
    left = begun + seconds - time.monotonic()
    if left < 0 or not ended.wait(min(left, FOREVER)):
        raise attempts.timed_out()
    returned, problem = outcome.pop()
    if problem is not None:
        raise problem
    return returned


class Gates:
    """The gates of a host's kernels; a gate limits the concurrent calls to one kernel."""

    def __init__(self, host: HostContext) -> None:
        del host
        self._lock = threading.RLock()
        self._gates: dict[object, Gate] = {}

    def of(self, key: object, limit: int, *, blocking: bool) -> Gate:
        """Return the gate of the kernel `key`.

        Calls run on the host's workers or, with `blocking`, in its pool of blocking threads.
        """
        with self._lock:
            return self._gates.setdefault(key, Gate(limit, blocking=blocking))


class Gate:
    """The running calls of one kernel, and the calls that wait for a running call to finish."""

    def __init__(self, limit: int, *, blocking: bool) -> None:
        self._left = limit
        self._blocking = blocking
        self.waiting: deque[Callable[[], None]] = deque()
        self._ended = 0
        """The number of finished calls whose places no waiting call has taken yet."""
        self._is_in_loop = False
        self._lock = threading.RLock()

    def run(
        self, frame: KernelFrame, function: Callable[..., object], values: tuple[object, ...]
    ) -> AsyncValue | tuple[AsyncValue, ...]:
        """Call `function` now, or after a running call has finished.

        Return the results of the call, which may be unavailable.
        """
        results = start_results(frame, BY_HAND)

        def job() -> None:
            before = frame.host.serve(frame.request)
            try:
                if not frame.is_cancelled:
                    settle(frame, results, function(*values))
            except BaseException as problem:  # noqa: BLE001 - it becomes the results' error
                settle_failed(frame, results, problem)
            finally:
                frame.host.serve(before)

        def job_later() -> None:
            if frame.is_cancelled:
                end()
            else:  # run it on another thread, because the previous call's thread must return
                frame.enqueue(job, blocking=self._blocking).and_then(end)

        def end() -> None:
            frame.request.leave()
            self._leave()

        # Enter first: once the job is queued, another thread may start it. A call that starts now
        # needs no entry, because it runs inside its kernel, which is already part of the run.
        frame.request.enter()
        if self._enter(job_later):
            frame.request.leave()
            job()
            self._leave()
        return results[0] if len(results) == 1 else results

    def _enter(self, job: Callable[[], None]) -> bool:
        """Return whether this thread may run a call now; if not, queue the job."""
        with self._lock:
            if self._left == 0:
                self.waiting.append(job)
                return False
            self._left -= 1
            return True

    def _leave(self) -> None:
        """Record that a call has finished, and start the call that has waited longest.

        If a run is cancelled, its call finishes while this method is starting it, and this method
        is called again.  The inner call only counts the finished call, and the outer call's loop
        starts the next one, because recursion could overflow the stack.
        """
        with self._lock:
            self._ended += 1
            if self._is_in_loop:
                return
            self._is_in_loop = True
        while True:
            with self._lock:
                if self._ended == 0 or not self.waiting:
                    self._left += self._ended
                    self._ended, self._is_in_loop = 0, False
                    return
                self._ended -= 1
                following = self.waiting.popleft()
            following()
