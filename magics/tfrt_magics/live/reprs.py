"""Static HTML of runs and values, for outputs that are not updated."""

from __future__ import annotations

from tfrt_magics.bridge.job import LOG_LIMIT
from tfrt_magics.bridge.snapshot import Row, Section, Snapshot, State, Status, result_names
from tfrt_magics.live.lines import line_of, lines_html
from tfrt_magics.views.diagnostics import headline
from tfrt_magics.views.page import page
from tfrt_nb.documents.previews import preview_of
from tfrt_runtime.diagnostics import Ending
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.values.async_value import AsyncValue

MAX_NOTES = 10


def run_html(run: Execution) -> str:
    """Return a static board: a row for each result, the printed text, and reasons for failure."""
    return page(snapshot_of(run))


def snapshot_of(run: Execution) -> Snapshot:
    """Return the current state of a run that Python started."""
    status = _status_of(run)
    names = result_names(len(run.results))
    section = Section(run.function.name, status, tuple(map(_row, names, run.results)))
    found = run.diagnostics
    notes = [headline(one) for one in found[:MAX_NOTES]]
    if len(found) > MAX_NOTES:
        notes.append(f"and {len(found) - MAX_NOTES} more")
    printed, note = run.output, "; ".join(notes)
    dropped = max(0, len(printed) - LOG_LIMIT)
    return Snapshot(status, (section,), log=printed[:LOG_LIMIT], log_dropped=dropped, note=note)


def value_html(value: AsyncValue) -> str:
    """Return a value as a chip."""
    return lines_html([line_of("value", value)])


def _status_of(run: Execution) -> Status:
    from tfrt_nb.documents.run import status_of  # %load_ext loads no compiler

    cancellation = run.request.cancellation
    if cancellation is None:
        return Status(status_of(run))
    return Status.TIMED_OUT if cancellation.ending is Ending.TIMED_OUT else Status.CANCELLED


def _row(name: str, value: AsyncValue) -> Row:
    # Read the state only once, because the value may be resolved at any time.
    state = State(value.state)
    text = preview_of(value) if state in (State.AVAILABLE, State.ERROR) else ""
    if state is State.ERROR and value.cancelled():
        state = State.CANCELLED
    return Row(name, value.type, state, text, is_result=True)
