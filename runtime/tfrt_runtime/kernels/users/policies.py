"""How often, how long and how many at a time: `retries`, `timeout` and `limit` of a user's kernel.

Those of `async def` kernels are kept by their event loop (`event_loop`), those of others here.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass

from tfrt_runtime.callers import FOREVER, refuse, require
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.users.outcomes import settle, settle_failed


@dataclass(frozen=True, slots=True)
class Policy:
    """`retries` more calls after one that raised; `timeout` seconds for each; `limit` at a time per
    host.

    Raises:
        TfrtError: if a number makes no sense.
    """

    retries: int = 0
    timeout: float | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        checks = (
            ("retries", self.retries, int, 0, "a whole number, 0 or more"),
            ("timeout", self.timeout, (int, float), 0, "a number of seconds above 0"),
            ("limit", self.limit, int, 1, "a whole number, 1 or more"),
        )
        for name, value, kind, least, expected in checks:
            if value is None and name != "retries":
                continue
            is_number = isinstance(value, kind) and not isinstance(value, bool)
            is_right = is_number and value >= least and (name != "timeout" or value != 0)  # type: ignore[operator]
            require(is_right, f"{name} of a kernel", expected, value)

    def timed_out(self, name: str) -> TimeoutError:
        """What a call raises that took too long."""
        return TimeoutError(f"'{name}' took longer than {self.timeout} s")


ONCE = Policy()
"""One call, for as long as it takes."""


def with_policy(
    name: str,
    function: Callable[..., object],
    policy: Policy,
    *,
    blocking: bool,
    has_frame: bool,
) -> Callable[..., object]:
    """A function that takes the frame, then what `function` takes, and calls it as the policy says.

    Raises:
        TfrtError: if it has a timeout and cannot be left alone, as it runs on a worker.
    """
    call = function
    if policy.timeout is not None:
        if not blocking:
            refuse(
                f"timeout= of kernel '{name}': a plain kernel cannot be stopped;"
                " use blocking=True or an 'async def' function"
            )
        call = _timed(name, call, policy, policy.timeout)
    if policy.retries:
        call = _retried(call, policy.retries)

    def start(frame: KernelFrame, *values: object) -> object:
        given = (frame, *values) if has_frame else values
        if policy.limit is None:
            return call(*given)
        gate = frame.host.shared_context(Gates).of(function, policy.limit, blocking=blocking)
        return gate.run(frame, call, given)

    return start


def _retried(function: Callable[..., object], retries: int) -> Callable[..., object]:
    def call(*values: object) -> object:
        for _ in range(retries):
            with contextlib.suppress(Exception):
                return function(*values)
        return function(*values)

    return call


def _timed(
    name: str, function: Callable[..., object], policy: Policy, seconds: float
) -> Callable[..., object]:
    """A function that calls `function` on a thread of its own, and waits so long for it."""

    def call(*values: object) -> object:
        outcome: list[tuple[object, BaseException | None]] = []
        ended = threading.Event()

        def run() -> None:
            try:
                outcome.append((function(*values), None))
            except BaseException as problem:  # noqa: BLE001 - the caller raises it
                outcome.append((None, problem))
            ended.set()

        start_thread(f"kernel {name}", copy_context().run, run)
        if not ended.wait(min(seconds, FOREVER)):
            raise policy.timed_out(name)
        returned, problem = outcome.pop()
        if problem is not None:
            raise problem
        return returned

    return call


class Gates:
    """The kernels of a host that have a limit."""

    def __init__(self, host: HostContext) -> None:
        del host
        self._lock = threading.RLock()
        self._gates: dict[object, Gate] = {}

    def of(self, key: object, limit: int, *, blocking: bool) -> Gate:
        """The gate of a kernel, whose calls run on workers, or with `blocking` in the pool."""
        with self._lock:
            return self._gates.setdefault(key, Gate(limit, blocking=blocking))


class Gate:
    """How many calls of a kernel run, and which ones wait for their turn."""

    def __init__(self, limit: int, *, blocking: bool) -> None:
        self._left = limit
        self._blocking = blocking
        self.waiting: deque[Callable[[], None]] = deque()
        self._ended = 0
        """Calls that have ended while no other call has begun in their place yet."""
        self._is_in_loop = False
        self._lock = threading.RLock()

    def run(
        self, frame: KernelFrame, function: Callable[..., object], values: tuple[object, ...]
    ) -> AsyncValue | tuple[AsyncValue, ...]:
        """Call `function` now, or when a call that runs has ended; its results, perhaps
        unavailable.
        """
        results = tuple(frame.allocate(i) for i in range(len(frame.result_types)))

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
            else:  # on another thread than that of the call before, which returns with what it has
                frame.enqueue(job, blocking=self._blocking).and_then(end)

        def end() -> None:
            frame.request.leave()
            self._leave()

        # A call that runs within its kernel is part of the run already.
        frame.request.enter(results)
        if self._enter(job_later):
            frame.request.leave()
            job()
            self._leave()
        return results[0] if len(results) == 1 else results

    def _enter(self, job: Callable[[], None]) -> bool:
        """Whether this thread may run a call now; else the job waits."""
        with self._lock:
            if self._left == 0:
                self.waiting.append(job)
                return False
            self._left -= 1
            return True

    def _leave(self) -> None:
        """A call has ended: the one that waits longest begins.

        Calls of cancelled runs end at once, within this: a loop begins what follows them.
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
