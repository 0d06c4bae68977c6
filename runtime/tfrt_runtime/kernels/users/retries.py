"""Attempts to call a user's kernel: which errors are retried, when, and for how long.

The options are those that users of the library tenacity ask for:

- errors by type or predicate
- a growing delay with random jitter
- a delay that the server specifies (`Retry-After`)
- a deadline for all attempts; the call ends immediately if the next delay would exceed it

Rejected alternative: tenacity itself.  Cancelling a run does not end tenacity's sleeps, its
deadline does not end a running attempt, and its exceptions have no notes that list the earlier
attempts.
"""

from __future__ import annotations

import builtins
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from tfrt_runtime.diagnostics import FOREVER, refuse, require
from tfrt_runtime.host.failures import printable
from tfrt_runtime.kernels.registry import KernelError

RetryOn = type[BaseException] | tuple[type[BaseException], ...] | Callable[[Exception], object]
Delay = float | Callable[[Exception], float | None]


@dataclass(frozen=True, slots=True)
class Policy:
    """The options of `kernel` that apply to calls: attempts, time limits, and concurrent calls.

    Raises:
        TfrtError: if an option is invalid.
    """

    retries: int = 0
    timeout: float | None = None
    limit: int | None = None
    retry_on: RetryOn = Exception
    delay: Delay = 0
    growth: float = 1.0
    jitter: float = 0.0
    deadline: float | None = None

    def __post_init__(self) -> None:
        whole, seconds = "a whole number, {} or more", "a number of seconds above 0"
        checks = (
            ("retries", self.retries, int, 0, whole.format(0)),
            ("timeout", self.timeout, (int, float), 0, seconds),
            ("limit", self.limit, int, 1, whole.format(1)),
            ("growth", self.growth, (int, float), 1, "a factor, 1 or more"),
            ("jitter", self.jitter, (int, float), 0, "a number of seconds, 0 or more"),
            ("deadline", self.deadline, (int, float), 0, seconds),
        )
        for name, value, kind, least, expected in checks:
            if value is None and name in ("timeout", "limit", "deadline"):
                continue
            is_number = isinstance(value, kind) and not isinstance(value, bool)
            is_right = is_number and least <= value < math.inf  # type: ignore[operator]
            is_right = is_right and not (name in ("timeout", "deadline") and value == 0)
            require(is_right, f"{name} of a kernel", expected, value)
        is_pause = type(self.delay) in (int, float) and 0 <= self.delay < math.inf  # type: ignore[operator]
        expected = "a number of seconds, or a function of the error that returns one"
        require(is_pause or callable(self.delay), "delay of a kernel", expected, self.delay)
        types = self.retry_on if isinstance(self.retry_on, tuple) else (self.retry_on,)
        are_types = all(isinstance(one, type) and issubclass(one, BaseException) for one in types)
        is_predicate = callable(self.retry_on) and not isinstance(self.retry_on, type)
        expected = "exception types, or a function of the error that says whether to try again"
        require(are_types or is_predicate, "retry_on of a kernel", expected, self.retry_on)
        if self.retries == 0 and (self.retry_on, self.delay, self.jitter) != (Exception, 0, 0):
            refuse(
                "retry_on=, delay=, and jitter= of a kernel apply only to retries: give "
                "retries=, too"
            )


class TimeoutError(builtins.TimeoutError):
    """A call took longer than its kernel's `timeout` or `deadline`."""


class AttemptNote(str):
    """A note on the last attempt's exception that reports an earlier failed attempt.

    If an exception is raised again, its notes of this class are removed.
    """

    __slots__ = ()


class Attempts:
    """Tracks the attempts of one call, and decides whether another attempt may follow.

    Threads:
        one thread or task at a time
    """

    def __init__(self, name: str, policy: Policy) -> None:
        """Start the first attempt."""
        self._name, self._policy = name, policy
        self._began = time.monotonic()
        self._failed: list[str] = []

    @property
    def seconds(self) -> float | None:
        """The number of seconds that the next attempt may take, or None if there is no limit."""
        limits = [self._policy.timeout, self._left()]
        return min((one for one in limits if one is not None), default=None)

    def _left(self) -> float | None:
        deadline = self._policy.deadline
        spent = time.monotonic() - self._began
        return None if deadline is None else max(0.0, min(deadline, FOREVER) - spent)

    def timed_out(self) -> TimeoutError:
        """Return the exception for an attempt that took longer than `seconds`."""
        is_over = self._left() == 0
        limit = self._policy.deadline if is_over else self._policy.timeout
        more = f" in {len(self._failed) + 1} attempts" if is_over and self._failed else ""
        return TimeoutError(f"'{self._name}' took longer than {limit:g} s{more}")

    def pause_after(self, problem: Exception) -> float | None:
        """Return the seconds until the next attempt, or None if `problem` ended the last attempt.

        If it is the last attempt, `problem` gets notes that list the earlier attempts' exceptions.

        Raises:
            Exception: any exception that the predicate `retry_on` or the function `delay` raises.
        """
        pause = self._pause(problem)
        if pause is None:
            self._add_notes(problem)
            return None
        text = printable(problem)
        kind = type(problem).__name__
        self._failed.append(f"{kind}: {text}" if text else kind)
        return pause

    def _pause(self, problem: Exception) -> float | None:
        policy, count = self._policy, len(self._failed)
        if count >= policy.retries or isinstance(problem, KernelError):
            return None
        on = policy.retry_on
        is_met = isinstance(problem, on) if isinstance(on, type | tuple) else on(problem)
        if not is_met:
            return None
        pause = policy.delay
        if callable(pause):
            found = pause(problem)
            pause = 0.0 if found is None else min(max(0.0, float(found)), FOREVER)
        elif pause:
            # A power of floats that is too large raises an exception, but (10^9)^30 still fits.
            pause = min(pause * min(policy.growth, FOREVER) ** min(count, 30), FOREVER)
        if policy.jitter:
            from random import uniform  # few programs need it

            pause += uniform(0, min(policy.jitter, FOREVER))
        left = self._left()
        return None if left is not None and pause >= left else pause

    def _add_notes(self, problem: Exception) -> None:
        notes = getattr(problem, "__notes__", None)
        kept = [n for n in (notes if isinstance(notes, list) else ()) if type(n) is not AttemptNote]
        # Not `problem.__notes__ = kept`, which the dataclass of a frozen exception refuses.
        BaseException.__setattr__(problem, "__notes__", kept)
        total = len(self._failed) + 1
        for number, said in enumerate(self._failed, 1):
            if total <= MAX_NOTED or number <= MAX_NOTED // 2 or number > total - MAX_NOTED // 2:
                problem.add_note(AttemptNote(f"attempt {number} of {total}: {said}"))
            elif number == MAX_NOTED // 2 + 1:
                problem.add_note(AttemptNote(f"{total - MAX_NOTED + 1} more attempts failed"))


# Maximum number of attempts that get their own notes. If there are more attempts, only the first
# and the last ones get notes.
MAX_NOTED = 20
