"""The value of a `%%tfrt` cell: the run that it started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tfrt_magics.bridge.job import Job, Results
from tfrt_magics.bridge.live import LiveRun
from tfrt_magics.bridge.snapshot import Snapshot
from tfrt_runtime.diagnostics import Diagnostic, counted
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.default_host import Returning, gather
from tfrt_runtime.host.failures import exception_of
from tfrt_runtime.host.values.async_value import AsyncValue


class CellRun(Returning):
    """The run of a cell's functions, one after another. Its display is the cell's board."""

    instead_of_argument = "pass its results, as in run(*other.results)"
    """Advice for the error message if a run is passed as an argument instead of a value."""

    def __init__(self, job: Job, execution: int) -> None:
        """`execution` is the number of the cell."""
        self.job, self.execution = job, execution
        self.board: LiveRun | None = None
        """The run as pages see it, or None until pages can see it."""

    @property
    def results(self) -> tuple[AsyncValue, ...]:
        """Return the results of the functions that have started. Some may be unavailable."""
        return tuple(cast("list[AsyncValue]", self.job.all_results()))

    @property
    def functions(self) -> Mapping[str, Results]:
        """The results of each function that has started, by function name.

        If a function has one result, the entry is that result; otherwise, it is the tuple of
        results.
        """
        return dict(self.job.results)

    def result(self, timeout: float | None = None) -> object:
        """Wait until all functions have finished, and return their results.

        A single result is returned alone. Several results are returned as a tuple.

        Raises:
            TimeoutError: if the functions do not finish in time.
            TfrtError: the first error among the results. If there are no results, the first error
                of the run.
        """
        if not self.wait(timeout):
            raise TimeoutError(f"the run has not finished after {timeout} s")
        found = tuple(value.result(0) for value in self.results)
        if not found and self.diagnostics:
            raise exception_of(self.diagnostics[0])
        return found[0] if len(found) == 1 else found

    def as_value(self) -> AsyncValue:
        """Return one AsyncValue that resolves when all results are resolved."""
        found = self.results
        return found[0] if len(found) == 1 else gather(*found)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all functions have finished; return False if the timeout expires first."""
        return self.job.finished.wait(timeout)

    def done(self) -> bool:
        """Return whether all functions have finished."""
        return self.job.finished.is_set()

    def cancel(self, message: str = "Cancelled") -> bool:
        """Cancel the running function, and start no others.

        Return False if all functions have already finished.
        """
        is_over = self.done()
        self.job.cancel(message)
        return not is_over

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """The diagnostics so far, in the order in which they were reported."""
        return self.job.diagnostics

    @property
    def output(self) -> str:
        """The text that the functions have printed so far. A long text is cut off at its end."""
        return self.job.snapshot().log

    def snapshot(self) -> Snapshot:
        """Return what the run's board shows at this moment."""
        return self.job.snapshot()

    def widget(self) -> Any:
        """Return the board as an ipywidgets widget; see `AsyncValue.widget`."""
        return HOOKS.widget(self)

    def __repr__(self) -> str:
        found = self.snapshot()
        names = ", ".join(f"@{one.name}" for one in found.sections)
        return f"<CellRun {names} {found.status}, {counted(len(self.results), 'result')}>"
