"""Run a program by hand: the caller, not the work queue, picks the next ready operation."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Self

from tfrt_nb.documents.previews import preview_of
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.programs import Program
from tfrt_nb.schedules.chosen import ChosenHost, Step
from tfrt_nb.schedules.outcomes import Outcome
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.queues.threads import run_apart
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.native.machine import HAS_THREADS

_JOIN_SECONDS = 5.0
_LOOK_SECONDS = 0.002
_Choose = Callable[[Mapping[int, Step]], Step | None]


class Stepper:
    """A run that advances only on request.

    Any thread may make requests, but only one at a time. The caller must close the stepper.

        with Stepper(program) as stepper:
            while ready := stepper.ready():
                stepper.run(ready[0])
            print(stepper.execution.result())

    The methods take and return the ids of operations in the program document (`document`). Every
    kernel is a step, except constants. The kernels run on the stepper's own thread. In an
    environment with only one thread, they run during the request, or during a later request that
    waits for them.
    """

    def __init__(
        self,
        program: Program,
        function: str = "main",
        arguments: Sequence[object] = (),
        *,
        document: ProgramDocument | None = None,
        output: Callable[[str], None] = lambda _: None,
        tier: Tier = Tier.AUTO,
    ) -> None:
        """Start the run on the tier `tier`. When the constructor returns, no step has run yet.

        Raises:
            TfrtError: if the program cannot be loaded or if the arguments do not match the
                function's parameters.
        """
        self.document = ProgramDocument(program) if document is None else document
        self._changed = threading.Condition()
        self._ready: Mapping[int, Step] = {}
        self._choose: _Choose | None = None
        self.is_over = False
        """Whether the run has nothing left to do."""
        self.execution: Execution
        self.operation_of_task: Callable[[int], int] = lambda frame: -1
        """Maps the frame of a task of compiled code to its operation, or to -1 if unknown."""
        self._problem: BaseException | None = None
        self._host = ChosenHost(self._pick)
        started = threading.Event()

        def work() -> None:
            # Start the run on the thread that waits for it. Without workers, ready steps belong to
            # one thread.
            try:
                self.execution = program.run(
                    function=function,
                    arguments=arguments,
                    host=self._host.host,
                    output=output,
                    wake=False,
                    watch=True,
                    tier=tier,
                )
            except BaseException as problem:  # noqa: BLE001
                self._problem = problem
                return
            finally:
                started.set()
            if HAS_THREADS:
                self._work()

        self._thread = run_apart("stepper", partial(copy_context().run, work))
        started.wait()
        if self._problem is not None:
            self._join()
            self._host.close()
            raise self._problem

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ready(self, timeout: float | None = None) -> list[int]:
        """Return the ids of the operations that may run next.

        The id is -1 for an unknown task of compiled code. If an operation's result comes from a
        timer, a coroutine, or a thread, the operation is ready twice: first for its kernel, then
        for its result.

        The method first waits until the previous step is over. The list is empty if the run is
        over, or if a kernel is still running or waiting for an arrival after `timeout` seconds.
        """
        with self._changed:
            self._wait_for(self._is_at_rest, timeout)
            return sorted(map(self._operation, self._ready.values()))

    def arriving(self) -> set[int]:
        """Return the ready operations whose kernels have returned and whose results may arrive."""
        with self._changed:
            steps = self._ready.values()
            return {self._operation(step) for step in steps if step.arrival is not None}

    def run(self, operation: int, timeout: float | None = None) -> bool:
        """Run a ready operation, and return whether it was ready.

        If the operation is ready more than once, the oldest step runs.
        """
        with self._changed:
            self._wait_for(self._is_at_rest, timeout)
            steps = [s for s in self._ready.values() if self._operation(s) == operation]
            if not steps:
                return False
            key = steps[0].key
            # After this step, `get` returns None, so `_pick` waits for another choice.
            self._tell(lambda ready: ready.get(key))
            return True

    def run_to(self, operation: int, timeout: float | None = None) -> bool:
        """Run other operations in program order until the given operation is ready.

        Return False if the run finishes first.
        """

        def others(ready: Mapping[int, Step]) -> Step | None:
            is_there = any(self._operation(step) == operation for step in ready.values())
            return None if is_there else self._first(ready)

        with self._changed:
            self._wait_for(self._is_at_rest, timeout)
            if self._ready and others(self._ready) is not None:
                self._tell(others)
        return operation in self.ready(timeout)

    def run_to_end(self, timeout: float | None = None) -> bool:
        """Run the remaining operations in program order; return False after `timeout` seconds."""
        with self._changed:
            self._tell(self._first)
            return self._wait_for(lambda: self.is_over, timeout)

    def cancel(self) -> None:
        """Cancel the run; its remaining steps are skipped."""
        self.execution.cancel()
        with self._changed:
            self._tell(self._first)

    def close(self) -> None:
        """Cancel the run if it is not over, and stop its thread."""
        if not self.is_over:
            self.cancel()
        self._join()
        self._host.close()

    def _join(self) -> None:
        if HAS_THREADS:
            self._thread.join(_JOIN_SECONDS)
        elif self._problem is None:
            self._wait_for(lambda: self.is_over, _JOIN_SECONDS)

    # On the thread of the run

    def _work(self, seconds: float = 1.0, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Run the chosen steps until the run is over, or until `goes_on` returns False."""
        while not self.execution.wait(seconds) and not getattr(self.execution, "is_stuck", False):
            if not goes_on():
                return
        with self._changed:
            self.is_over, self._ready = True, {}
            self._changed.notify_all()

    def _pick(self, ready: Mapping[int, Step]) -> Step | None:
        """Return the chosen step.

        If no choice has been made, or if the choice does not pick a step now, wait for another
        choice.
        """
        with self._changed:
            while True:
                picked = None if self._choose is None else self._choose(ready)
                if picked is not None and picked.key in ready:
                    return picked
                self._choose, self._ready = None, ready
                self._changed.notify_all()
                if not HAS_THREADS:
                    # No other thread can choose the steps for which a kernel is waiting.
                    return self._first(ready) if ONE_THREAD.is_nested else None
                self._changed.wait()

    # Methods that require the condition's lock

    def _wait_for(self, is_so: Callable[[], bool], timeout: float | None) -> bool:
        if HAS_THREADS:
            return self._changed.wait_for(is_so, timeout)
        end = time.monotonic() + (math.inf if timeout is None else timeout)
        if not is_so():
            self._work(_LOOK_SECONDS, lambda: not is_so() and time.monotonic() < end)
        return is_so()

    def _tell(self, choose: _Choose) -> None:
        # Nothing is ready until the next `_pick`, so that `_is_at_rest` is false during the step.
        self._choose, self._ready = choose, {}
        self._changed.notify_all()

    def _is_at_rest(self) -> bool:
        return self.is_over or bool(self._ready)

    def _operation(self, step: Step) -> int:
        if step.program is None:
            return self.operation_of_task(step.handle) if step.task else -1
        return self.document.operation_of(step.kernel)

    def _first(self, ready: Mapping[int, Step]) -> Step:
        """Return the first step in program order."""
        return min(ready.values(), key=lambda step: (self._operation(step), step.key))


def stepped_through(
    program: Program,
    function: str,
    arguments: Sequence[object] = (),
    timeout: float | None = None,
) -> tuple[str, tuple[AsyncValue, ...], Sequence[Diagnostic]]:
    """Run a function's operations in program order.

    Returns:
        the outcome as text, the results, and the errors.

    Raises:
        TfrtError: if the program cannot be loaded, if the arguments do not match the function's
            parameters, or if the run takes more than `timeout` seconds.
    """
    printed: list[str] = []
    with Stepper(program, function, arguments, output=printed.append) as stepper:
        if not stepper.run_to_end(timeout):
            text = f"@{function} timed out after {timeout:g} s"
            raise TfrtError(error(text, notes=stepper.execution.waiting_for()))
        run = stepper.execution
        outcome, results, problems = outcome_of(run), tuple(run.results), run.diagnostics
    said = f"@{function}: the operations ran in program order; choosing them needs the board\n"
    return said + replace(outcome, printed="".join(printed)).text, results, problems


def outcome_of(run: Execution) -> Outcome:
    """Return the outcome of a finished run, without its output and its errors."""
    return Outcome(tuple(preview_of(value) for value in run.results if value.done()))
